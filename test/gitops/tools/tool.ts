import { basename } from 'node:path'
import type { Repository } from './repository.ts'

export type ToolName = 'Flux' | 'Argo CD'

/** What a tool shows of a repository that it applies. */
export interface Shown {
  /** `Ready: True, ReconciliationSucceeded`; `Synced, Healthy`; `gone` when the tool's object is deleted. */
  readonly state: string
  /** In the tool's own words, without what differs between two runs. */
  readonly message: string
  /** Whether this is about the newest commit, and after the last request to look. */
  readonly isCurrent: boolean
}

/** Where a tool applies a repository. */
export interface Target {
  /** Of all manifests that name none. */
  readonly namespace: string
  readonly repository: Repository
  /** Folder of the repository. Default: its root. */
  readonly path?: string
}

/** The tool's object for a repository: a Kustomization, an Application. */
export interface Delivery {
  /** Asks the tool to look at the repository now. */
  sync(): Promise<void>
  shown(): Promise<Shown>
  /** Stops applying, or starts it again. */
  suspend(isSuspended: boolean): Promise<void>
  /** Deletes the tool's object, and with it what was applied; resolves before that is done. */
  remove(): Promise<void>
}

/** A GitOps tool that runs next to a cluster. */
export interface Tool extends AsyncDisposable {
  readonly name: ToolName
  /** Beginning of the user agent of everything that applies. */
  readonly userAgent: string
  /** The end of its log. */
  readonly log: readonly string[]
  deliver(target: Target): Promise<Delivery>
}

/** How a tool reaches its cluster. */
export interface ToolCluster {
  /** Of an administrator. */
  readonly kubeconfig: string
  readonly kubectlPath: string
}

/** Name of the tool's object for a repository, or for a folder of it. */
export function nameOf({ repository, path }: Target): string {
  const parts = [basename(repository.folder), ...(path === undefined ? [] : [basename(path)])]
  return parts.join('-').toLowerCase()
}
