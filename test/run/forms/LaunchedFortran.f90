! The Fortran module over the launch form: arrays of any strides, arrays of the device by their addresses, and what is refused.
!   run_launched_fortran VALUES WEIGHTS     VALUES as make_models.py wrote them; the device is this host
program run_launched_fortran
  use launched
  use, intrinsic :: iso_c_binding
  implicit none

  integer, parameter :: columns = 37
  type(launched_model) :: model
  real(c_double) :: a8(16, columns), b8(8, columns), p8(5, columns), place8(columns), sums8(16, columns)
  real(c_float), target :: a(16, columns), b(8, columns), p(5, columns), sums(16, columns), large(48, 2 * columns)
  integer(c_int64_t), target :: place(1, columns)
  character(len=1024) :: values, weights
  integer :: failures, unit
  integer(c_int) :: error

  call get_command_argument(1, values)
  call get_command_argument(2, weights)
  open (newunit=unit, file=trim(values), access="stream", form="unformatted", status="old")
  read (unit) a8, b8, p8, place8, sums8
  close (unit)
  a = real(a8, c_float)
  b = real(b8, c_float)
  failures = 0

  call model%create(weights, error)
  call expect("no Kokkos", error == launched_no_kokkos)
  call launched_start(error)
  call expect("start", error == launched_ok)
  call model%evaluate(a, b, p, place, sums, error)
  call expect("not created", error == launched_null)
  call model%create("nowhere.safetensors", error)
  call expect("no weights", error == launched_weights)
  call model%create(weights, error)
  call expect("create", error == launched_ok)

  p = -1
  call model%evaluate(a, b, p, place, sums, error)
  call expect("evaluate", error == launched_ok .and. are_right())
  large = -1
  large(1:48:3, 2::2) = a
  sums = -1
  call model%evaluate(large(1:48:3, 2::2), b, p, place, sums, error) ! not contiguous: in place
  call expect("strided", error == launched_ok .and. are_right())
  p = -1
  call model%evaluate_device(int(columns, c_size_t), c_loc(a), c_loc(b), c_loc(p), c_loc(place), c_loc(sums), error)
  call expect("device", error == launched_ok .and. are_right())
  call model%evaluate_device(int(columns, c_size_t), c_null_ptr, c_loc(b), c_loc(p), c_loc(place), c_loc(sums), error)
  call expect("null", error == launched_null)
  call model%evaluate(a(1:15, :), b, p, place, sums, error)
  call expect("length", error == launched_length)
  call model%destroy()
  call launched_stop()
  print '(i0, a)', failures, " failures"
  if (failures /= 0) error stop

contains

  subroutine expect(what, is_right)
    character(len=*), intent(in) :: what
    logical, intent(in) :: is_right

    if (is_right) return
    failures = failures + 1
    print '(3a, i0)', "wrong: ", what, ", error ", error
  end subroutine

  logical function are_right()
    are_right = maxval(abs(p - p8)) < 1e-5 .and. all(place(1, :) == int(place8)) .and. maxval(abs(sums - sums8)) < 1e-5
  end function
end program
