// Triplets (row, column, value) in any order, several for one place: a matrix in CSR.
#TRIPLETS = #sparse_tensor.encoding<{ map = (i, j) -> (i : compressed(nonunique, nonordered), j : singleton(nonunique, nonordered)), posWidth = 32, crdWidth = 32 }>
#CSR = #sparse_tensor.encoding<{ map = (i, j) -> (i : dense, j : compressed), posWidth = 32, crdWidth = 32 }>

func.func @assemble(%triplets: tensor<?x?xf64, #TRIPLETS>) -> tensor<?x?xf64, #CSR> {
  %A = sparse_tensor.convert %triplets : tensor<?x?xf64, #TRIPLETS> to tensor<?x?xf64, #CSR>
  return %A : tensor<?x?xf64, #CSR>
}
