//! Tells the code which interpreter it is built for: `Py_GIL_DISABLED` for one without a global lock.

fn main() {
    pyo3_build_config::use_pyo3_cfgs();
}
