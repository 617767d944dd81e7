! The Fortran module: every third element of every second column in place, and what is refused.
module use_fortran
  use plain
  use, intrinsic :: iso_c_binding
  implicit none

  integer, parameter :: columns = 37

contains

  function strided(a, b, p, place, sums) result(failures) bind(c, name="fortran_strided")
    real(c_float), intent(in) :: a(16, columns), b(8, columns)
    real(c_float), intent(out) :: p(5, columns), sums(16, columns)
    integer(c_int64_t), intent(out) :: place(columns)
    integer(c_int) :: failures, error
    type(plain_model) :: model
    real(c_float) :: large_a(48, 2 * columns), large_p(5, 2 * columns)
    integer(c_int64_t) :: large_place(3, columns)

    large_a = -1
    large_p = -1
    large_a(1:48:3, 2::2) = a
    failures = 0
    call model%evaluate(a, b, p, large_place(2:2, :), sums, error)
    if (error /= plain_null) failures = failures + 1
    call model%create(error)
    failures = failures + error
    call model%evaluate(large_a(1:48:3, 2::2), b, large_p(:, 1::2), large_place(2:2, :), sums, error)
    failures = failures + error
    p = large_p(:, 1::2)
    place = large_place(2, :)
    if (any(abs(large_p(:, 2::2) + 1) > 0)) failures = failures + 1
    call model%evaluate(a(:, 1:4), b, p, large_place(2:2, :), sums, error)
    if (error /= plain_length) failures = failures + 1
    call model%evaluate(a(1:15, :), b, p, large_place(2:2, :), sums, error)
    if (error /= plain_length) failures = failures + 1
    call model%evaluate(a(:, 1:0), b(:, 1:0), p(:, 1:0), large_place(2:2, 1:0), sums(:, 1:0), error)
    failures = failures + error
    call model%destroy()
    call model%destroy()
  end function

end module
