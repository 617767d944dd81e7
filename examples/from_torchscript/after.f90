! After, in Fortran: the printed runner behind two functions of C (after_c.cpp), where FTorch was called before.
program after
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    function net_create() bind(c) result(net)
      import :: c_ptr
      type(c_ptr) :: net
    end function
    subroutine net_evaluate(net, state, tendency) bind(c)
      import :: c_ptr, c_float
      type(c_ptr), value :: net
      real(c_float), intent(in) :: state(4)
      real(c_float), intent(out) :: tendency(2)
    end subroutine
    subroutine net_destroy(net) bind(c)
      import :: c_ptr
      type(c_ptr), value :: net
    end subroutine
  end interface
  integer, parameter :: cells = 5
  real(c_float) :: state(4, cells), tendency(2, cells)
  type(c_ptr) :: net
  integer :: i, k

  do i = 1, cells
    do k = 1, 4
      state(k, i) = sin(real(4 * (i - 1) + k - 1, c_float))
    end do
  end do
  net = net_create()
  do i = 1, cells
    call net_evaluate(net, state(:, i), tendency(:, i))
    print '(f0.5, 1x, f0.5)', tendency(:, i)
  end do
  call net_destroy(net)
end program
