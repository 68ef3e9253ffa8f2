import type { Command } from 'commander'

/** One command of `culvert`, as the list of commands shows it. */
export interface CommandEntry {
  /** One line for `culvert --help`. */
  readonly summary: string
  /** Imports the command with everything that it needs. */
  readonly load: () => Promise<Command>
}

/**
 * Every command, by name. Each is loaded only when it is named: the emulator starts without the operator's libraries,
 * in half the time and memory, and `culvert --help` loads none.
 */
export const commands: Readonly<Record<string, CommandEntry>> = {
  reconcile: {
    summary: 'read an object, or list an account, now',
    load: async () => (await import('./requests/command.ts')).reconcileCommand(),
  },
  pause: {
    summary: 'leave a resource and its object alone until it is resumed',
    load: async () => (await import('./requests/command.ts')).pauseCommand(),
  },
  resume: {
    summary: 'end a pause',
    load: async () => (await import('./requests/command.ts')).resumeCommand(),
  },
  rotate: {
    summary: 'put a new token into the Secret of a resource now',
    load: async () => (await import('./requests/command.ts')).rotateCommand(),
  },
  operator: {
    summary: 'run the operator',
    load: async () => (await import('./operator.ts')).operatorCommand(),
  },
  leftovers: {
    summary: 'list the resources that could not be deleted without an operator',
    load: async () => (await import('./leftovers.ts')).leftoversCommand(),
  },
  probe: {
    summary: 'request a URL once',
    load: async () => (await import('./probe.ts')).probeCommand(),
  },
  emulator: {
    summary: "run an emulator of the service's API",
    load: async () => (await import('./emulator.ts')).emulatorCommand(),
  },
  demo: {
    summary: 'run everything on this machine',
    load: async () => (await import('./demo.ts')).demoCommand(),
  },
}
