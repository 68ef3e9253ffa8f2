import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { goProgram } from '../../controlplane/go-program.ts'
import { runProgram } from '../../controlplane/run-program.ts'

const MODULE = join(import.meta.dirname, 'judge')
const ARGOCD_CM = join(import.meta.dirname, '..', '..', 'gitops', 'argocd-cm.yaml')

/** What kstatus says of an object. */
export type Kstatus = 'InProgress' | 'Failed' | 'Current' | 'Terminating'

/** What Argo CD says of an object. */
export type ArgoHealth = 'Healthy' | 'Progressing' | 'Degraded' | 'Suspended'

/** What Argo CD says of objects that are not paused. */
export const ARGO_FOR: Readonly<Record<Kstatus, ArgoHealth>> = {
  InProgress: 'Progressing',
  Failed: 'Degraded',
  Current: 'Healthy',
  Terminating: 'Progressing',
}

/** How GitOps tools see an object. */
export interface Verdict {
  readonly kstatus: { readonly status: Kstatus; readonly message: string }
  readonly argo: { readonly status: ArgoHealth; readonly message: string }
}

/** kstatus as Flux has it, and the health script of `gitops/argocd-cm.yaml` in the Lua of Argo CD. */
export class Judge {
  readonly #program: string
  readonly #script: string

  private constructor(program: string, script: string) {
    this.#program = program
    this.#script = script
  }

  /** Builds the program first where this machine has not done so yet, which takes a minute or more. */
  static async open(): Promise<Judge> {
    const program = await goProgram(MODULE)
    return new Judge(program, await healthScript())
  }

  /** @throws when kstatus or the script fails on one of the objects. */
  async judge(objects: readonly object[]): Promise<readonly Verdict[]> {
    const stdin = JSON.stringify({ script: this.#script, objects })
    const { code, stdout, stderr } = await runProgram(this.#program, [], { stdin })
    if (code !== 0) throw new Error(stderr)
    return JSON.parse(stdout) as readonly Verdict[]
  }
}

async function healthScript(): Promise<string> {
  const { data } = parse(await readFile(ARGOCD_CM, 'utf8')) as { data: Record<'resource.customizations', string> }
  const customizations = parse(data['resource.customizations']) as Record<'culvert.dev/*', { 'health.lua': string }>
  return customizations['culvert.dev/*']['health.lua']
}
