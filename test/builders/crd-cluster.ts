import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { parse } from 'yaml'
import { createKubectl, type Kubectl } from '../../controlplane/kubectl.ts'
import type { CustomResourceDefinition } from '../../scripts/crds/crd.ts'

/** kubectl for tests of CRDs, with its own discovery cache. */
export class CrdCluster implements AsyncDisposable {
  readonly kubectl: Kubectl
  readonly #cacheFolder: string

  private constructor(kubectl: Kubectl, cacheFolder: string) {
    this.kubectl = kubectl
    this.#cacheFolder = cacheFolder
  }

  static async open(path: string, kubeconfig: string): Promise<CrdCluster> {
    const cacheFolder = await mkdtemp(join(tmpdir(), 'culvert-kubectl-'))
    return new CrdCluster(createKubectl({ path, kubeconfig, cacheFolder }), cacheFolder)
  }

  /** Standard output of a command that must succeed without a warning. */
  async succeed(args: readonly string[], stdin?: string): Promise<string> {
    const { code, stdout, stderr } = await this.kubectl.run(args, stdin === undefined ? {} : { stdin })
    expect(stderr).toBe('')
    expect(code).toBe(0)
    return stdout
  }

  /** Applies a CRD and waits until it is served. */
  async establish(yaml: string): Promise<void> {
    const name = `crd/${(parse(yaml) as CustomResourceDefinition).metadata.name}`
    await this.succeed(['apply', '--server-side', '-f', '-'], yaml)
    await this.succeed(['wait', '--for=condition=Established', '--timeout=30s', name])
    const conditions = await this.succeed(['get', name, '-o', 'jsonpath={.status.conditions[*].type}'])
    expect(conditions.split(' ')).not.toContain('NonStructuralSchema')
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#cacheFolder, { recursive: true })
  }
}
