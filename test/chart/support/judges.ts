import { inject } from 'vitest'
import { KUBERNETES_VERSION } from '../../../controlplane/build.ts'
import { runProgram } from '../../../controlplane/run-program.ts'
import type { Rendered } from './helm.ts'
import './provided.ts'
import { goModule } from './tools.ts'

/** An objection of one of the linters. */
export interface Objection {
  /** For example `container-resources` of kube-score, `KSV011` of Trivy. */
  readonly check: string
  /** `Deployment/culvert`. */
  readonly object: string
  readonly message: string
}

/** Trivy's checks as a Go module: Rego that the program in test/chart/rules evaluates. */
const TRIVY_CHECKS = 'github.com/aquasecurity/trivy-checks@v1.10.0'

interface Score {
  readonly object_meta: { readonly name: string }
  readonly type_meta: { readonly kind: string }
  readonly checks: readonly {
    readonly check: { readonly id: string }
    /** 10: fine; 5: a warning; 1: critical. */
    readonly grade: number
    readonly skipped: boolean
    readonly comments: readonly { readonly path: string; readonly summary: string }[] | null
  }[]
}

/** kube-score's objections to objects, with all checks enabled by default. */
export async function byKubeScore(objects: readonly Rendered[]): Promise<readonly Objection[]> {
  const version = `v${KUBERNETES_VERSION.split('.').slice(0, 2).join('.')}`
  const { stdout, stderr } = await runProgram(
    inject('judges').kubeScore,
    ['score', '-', '--output-format', 'json', '--kubernetes-version', version],
    { stdin: objects.map((object) => JSON.stringify(object)).join('\n---\n') },
  )
  // Its exit code only says that there are objections.
  if (!stdout.startsWith('[')) throw new Error(`kube-score failed: ${stderr}`)
  return (JSON.parse(stdout) as readonly Score[]).flatMap(({ object_meta, type_meta, checks }) =>
    checks
      .filter(({ grade, skipped }) => !skipped && grade < 10)
      .flatMap(({ check, comments }) =>
        (comments ?? []).map(({ path, summary }) => ({
          check: check.id,
          object: `${type_meta.kind}/${object_meta.name}`,
          message: [path, summary].filter((part) => part !== '').join(': '),
        })),
      ),
  )
}

/** The objections of Trivy's checks for Kubernetes to objects, without exclusions. */
export async function byTrivysRules(
  objects: readonly Rendered[],
): Promise<{ readonly checks: readonly { readonly id: string }[]; readonly findings: readonly Objection[] }> {
  const stdin = JSON.stringify(objects)
  const { code, stdout, stderr } = await runProgram(inject('judges').trivyRules, [await goModule(TRIVY_CHECKS)], {
    stdin,
  })
  if (code !== 0) throw new Error(stderr)
  return JSON.parse(stdout)
}
