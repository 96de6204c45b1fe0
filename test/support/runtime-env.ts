// The part of the test's own environment that its child processes get: nothing that could configure the service.

/** Locations of programs, and of compiled modules kept between processes. */
export function runtimeEnv(): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env
  return { PATH, ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }) }
}
