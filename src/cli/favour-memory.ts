import { setFlagsFromString } from 'node:v8'

/**
 * Makes V8 collect garbage early, for programs that run for long with little at work. By default the young generation
 * would grow to 16 MiB while modules are loaded and stay there, and the heap to twice its size before it is collected:
 * to be called before modules are loaded. Costs a fifth more CPU time under load.
 */
export function favourMemory(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--optimize-for-size')
}
