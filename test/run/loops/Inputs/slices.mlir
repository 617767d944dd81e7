// x[i] + y[i + 1]: what is read says how large y has to be.
func.func @slices(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32> {nest.name = "sum"}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %m = arith.subi %n, %c1 : index
  %a = tensor.extract_slice %x[0] [%m] [1] : tensor<?xf32> to tensor<?xf32>
  %b = tensor.extract_slice %y[1] [%m] [1] : tensor<?xf32> to tensor<?xf32>
  %s = arith.addf %a, %b : tensor<?xf32>
  return %s : tensor<?xf32>
}
