! The boundary layer over a warming ground: a Fortran time loop that asks a learned closure, once per step and for all columns, how strongly
! turbulence mixes.   mixing_app [RECORD]
!
! Wind and temperature of each column are diffused upwards by an implicit step. The loop runs with the closure and with the formula that it has
! learned; the program compares the profiles. RECORD: the last call's arguments and results, for check.cpp.
program mixing_app
  use, intrinsic :: iso_c_binding
  use mixing
  implicit none

  integer, parameter :: dp = c_double, levels = 60, columns = 48, steps = 360
  real(dp), parameter :: dt = 120, dz = 40, gravity = 9.81_dp, reference = 300

  type :: atmosphere
    real(dp) :: wind(levels, columns), theta(levels, columns)
  end type

  type(mixing_model) :: model
  type(atmosphere) :: learned, exact
  real(c_float) :: state(3, levels - 1, columns), diffusivity(2, levels - 1, columns)
  real(dp) :: difference, warming
  integer :: step
  integer(c_int) :: error
  integer(c_int64_t) :: start, finish, rate, closure

  call model%create(error)
  if (error /= mixing_ok) error stop "mixing_app: no model"
  call begin(learned)
  call begin(exact)
  closure = 0
  do step = 1, steps
    call describe(learned, state)
    call system_clock(start, rate)
    call ask(model, state, diffusivity, error)
    call system_clock(finish)
    closure = closure + finish - start
    if (error /= mixing_ok) error stop "mixing_app: the closure was not evaluated"
    call advance(learned, real(diffusivity, dp), step)
    call describe(exact, state)
    call advance(exact, formula(real(state, dp)), step)
  end do
  call record(learned)
  call model%destroy()

  difference = sqrt(sum((learned%theta - exact%theta)**2) / size(exact%theta))
  warming = sum(exact%theta(1, :)) / columns - reference
  print '(a, f5.2, a, f6.3, a)', "the lowest level warms by ", warming, " K; closure and formula differ by ", difference, " K"
  print '(a, f6.3, a)', "closure: ", closure * 1e6_dp / rate / steps / (columns * (levels - 1)), " us a level"
  if (.not. difference < 0.1_dp .or. .not. warming > 1) error stop "mixing_app: the closure is not what it learned"

contains

  ! Queries are the last dimension: levels and columns as one, without a copy
  subroutine ask(model, state, diffusivity, error)
    type(mixing_model), intent(inout) :: model
    real(c_float), intent(in), target :: state(3, columns * (levels - 1))
    real(c_float), intent(inout), target :: diffusivity(2, columns * (levels - 1))
    integer(c_int), intent(out) :: error

    call model%evaluate(state, diffusivity, error)
  end subroutine

  subroutine begin(air)
    type(atmosphere), intent(out) :: air
    integer :: c, k

    do c = 1, columns
      do k = 1, levels
        air%wind(k, c) = (4 + 0.1_dp * c) * log(1 + (k - 0.5_dp) * dz / 0.5_dp) / log(1 + levels * dz / 0.5_dp) * 2
        air%theta(k, c) = reference + 0.003_dp * (k - 0.5_dp) * dz
      end do
    end do
  end subroutine

  ! Shear, stratification and height between levels
  subroutine describe(air, state)
    type(atmosphere), intent(in) :: air
    real(c_float), intent(out) :: state(3, levels - 1, columns)
    integer :: c, k

    do c = 1, columns
      do k = 1, levels - 1
        state(1, k, c) = real(abs(air%wind(k + 1, c) - air%wind(k, c)) / dz, c_float)
        state(2, k, c) = real(gravity / reference * (air%theta(k + 1, c) - air%theta(k, c)) / dz, c_float)
        state(3, k, c) = real(k * dz, c_float)
      end do
    end do
  end subroutine

  ! What the closure has learned (make_model.py)
  function formula(state) result(mixed)
    real(dp), intent(in) :: state(3, levels - 1, columns)
    real(dp) :: mixed(2, levels - 1, columns)
    real(dp), dimension(levels - 1, columns) :: length, square, richardson, unstable, stable

    length = 0.4_dp * state(3, :, :) / (1 + 0.4_dp * state(3, :, :) / 150)
    square = state(1, :, :)**2 + 1e-5_dp
    richardson = min(max(state(2, :, :) / square, -2._dp), 2._dp)
    unstable = sqrt(1 - 18 * min(richardson, 0._dp))
    stable = 1 / (1 + 10 * max(richardson, 0._dp) * (1 + 8 * max(richardson, 0._dp)))
    mixed(1, :, :) = length**2 * sqrt(square) * unstable * stable + 0.1_dp
    mixed(2, :, :) = mixed(1, :, :) * (1 - 0.35_dp * (1 - stable) + 0.35_dp * (1 - 1 / unstable))
  end function

  ! The ground takes momentum and gives heat
  subroutine advance(air, mixed, step)
    type(atmosphere), intent(inout) :: air
    real(dp), intent(in) :: mixed(2, levels - 1, columns)
    integer, intent(in) :: step
    real(dp) :: heat
    integer :: c

    do c = 1, columns
      heat = 0.15_dp * (0.8_dp + 0.4_dp * c / columns) * sin(3.14159_dp * step / steps)
      call diffuse(air%wind(:, c), mixed(1, :, c), -0.002_dp * air%wind(1, c)**2)
      call diffuse(air%theta(:, c), mixed(2, :, c), heat)
    end do
  end subroutine

  ! (1 - dt d/dz K d/dz) new = old, with a flux from below: a tridiagonal system
  subroutine diffuse(values, mixed, flux)
    real(dp), intent(inout) :: values(levels)
    real(dp), intent(in) :: mixed(levels - 1), flux
    real(dp) :: above(levels), pivot, below
    integer :: k

    values(1) = values(1) + dt * flux / dz
    above = 0
    do k = 1, levels
      below = 0
      if (k > 1) below = dt * mixed(k - 1) / dz**2
      if (k < levels) above(k) = dt * mixed(k) / dz**2
      pivot = 1 + below + above(k)
      if (k > 1) then
        pivot = pivot - below * above(k - 1)
        values(k) = values(k) + below * values(k - 1)
      end if
      values(k) = values(k) / pivot
      above(k) = above(k) / pivot
    end do
    do k = levels - 1, 1, -1
      values(k) = values(k) + above(k) * values(k + 1)
    end do
  end subroutine

  subroutine record(air)
    type(atmosphere), intent(in) :: air
    character(len=1024) :: path
    integer :: unit, error

    call get_command_argument(1, path)
    if (path == "") return
    call describe(air, state)
    call ask(model, state, diffusivity, error)
    open (newunit=unit, file=trim(path), access="stream", form="unformatted", status="replace")
    write (unit) state, diffusivity
    close (unit)
  end subroutine
end program
