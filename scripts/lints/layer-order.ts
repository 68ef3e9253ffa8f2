/** The layers of a folder: what stands in it may import only what comes before it. */
export interface Layers {
  /** From the project's root. */
  readonly root: string
  /** Folders directly below `root`, and files beside them, lowest first. Inside a folder, everything is allowed. */
  readonly order: readonly string[]
}

/** Every folder whose layers are checked (docs/architecture.md draws them). */
export const layers: readonly Layers[] = [
  {
    root: 'src/managed',
    order: [
      'names.ts',
      'kubectl.ts',
      'permissions.ts',
      'descriptor',
      'attempt.ts',
      'account-resource.ts',
      'cr.ts',
      'ownership.ts',
      'kinds-registry.ts',
      'run',
      'inputs',
      'markers',
      'references',
      'plan',
      'outputs',
      'rotation',
      'identity',
      'delete',
      'apply',
      'reconcile',
      'accounts',
      'store',
      'approval',
      'sessions',
      'composed',
      'tunnels',
      'services',
      'claims',
      'uninstall',
    ],
  },
]
