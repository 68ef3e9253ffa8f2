import { setFlagsFromString } from 'node:v8'
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
  plan: {
    summary: 'preview what manifests would change in an account',
    load: async () => (await import('./plan-command.ts')).planCommand(),
  },
  export: {
    summary: "export an account's objects as manifests",
    load: async () => (await import('./export-command.ts')).exportCommand(),
  },
  why: {
    summary: 'explain what a resource waits for, and what to do',
    load: async () => (await import('./why-command.ts')).whyCommand(),
  },
  check: {
    summary: 'tell whether a connection to an edge is admitted, and which rule decides',
    load: async () => (await import('./check-command.ts')).checkCommand(),
  },
  get: {
    summary: 'list resources of all kinds, with their states',
    load: async () => (await import('./get-command.ts')).getCommand(),
  },
  tree: {
    summary: 'show what resources refer to, or what uses them, with their states',
    load: async () => (await import('./tree-command.ts')).treeCommand(),
  },
  graph: {
    summary: 'draw what tree shows, for Markdown or Graphviz',
    load: async () => (await import('./graph-command.ts')).graphCommand(),
  },
  ui: {
    summary: 'serve one page about Edges on this machine: which fail, where and why',
    load: async () => (await import('./ui-command.ts')).uiCommand(),
  },
  doctor: {
    summary: 'look for everything that is wrong, worst first',
    load: async () => (await import('./doctor-command.ts')).doctorCommand(),
  },
  reconcile: {
    summary: 'read an object, or list an account, now',
    load: async () => (await import('./requests-command.ts')).reconcileCommand(),
  },
  pause: {
    summary: 'leave a resource and its object alone until it is resumed',
    load: async () => (await import('./requests-command.ts')).pauseCommand(),
  },
  resume: {
    summary: 'end a pause',
    load: async () => (await import('./requests-command.ts')).resumeCommand(),
  },
  rotate: {
    summary: 'put a new token into the Secret of a resource now',
    load: async () => (await import('./requests-command.ts')).rotateCommand(),
  },
  approve: {
    summary: 'approve the pending plan of a resource',
    load: async () => (await import('./approve-command.ts')).approveCommand(),
  },
  events: {
    summary: 'show what Culvert did and found out',
    load: async () => (await import('./events-command.ts')).eventsCommand(),
  },
  orphans: {
    summary: 'list or delete objects of resources that no longer exist',
    load: async () => (await import('./orphans-command.ts')).orphansCommand(),
  },
  sessions: {
    summary: 'list, restart, stop or update the agents that are connected',
    load: async () => (await import('./sessions-command.ts')).sessionsCommand(),
  },
  operator: {
    summary: 'run the operator',
    load: async () => {
      favourMemory()
      return (await import('./operator-command.ts')).operatorCommand()
    },
  },
  leftovers: {
    summary: 'list the resources that could not be deleted without an operator',
    load: async () => (await import('./leftovers-command.ts')).leftoversCommand(),
  },
  probe: {
    summary: 'request a URL once',
    load: async () => (await import('./probe-command.ts')).probeCommand(),
  },
  agent: {
    summary: 'carry connections from the SSH gateway of the service to targets',
    load: async () => (await import('./agent-command.ts')).agentCommand(),
  },
  emulator: {
    summary: "run an emulator of the service's API",
    load: async () => (await import('./emulator-command.ts')).emulatorCommand(),
  },
  completion: {
    summary: 'print a script that completes commands in a shell',
    load: async () => (await import('./completion-command.ts')).completionCommand(commands),
  },
  version: {
    summary: 'print the versions of this program, the operator and the CRDs',
    load: async () => (await import('./version-command.ts')).versionCommand(),
  },
  demo: {
    summary: 'run everything on this machine',
    load: async () => (await import('./demo-command.ts')).demoCommand(),
  },
}

/**
 * Makes V8 collect garbage early, for programs that run for long with little at work. By default the young generation
 * would grow to 16 MiB while modules are loaded and stay there, and the heap to twice its size before it is collected:
 * to be called before modules are loaded. Costs a fifth more CPU time under load.
 */
function favourMemory(): void {
  setFlagsFromString('--semi-space-growth-factor=1')
  setFlagsFromString('--optimize-for-size')
}
