import type { ControlPlane } from '../controlplane/control-plane.ts'
import { runProgram } from '../controlplane/run-program.ts'
import { EVENT_SOURCE, events } from '../src/runtime/events.ts'
import { apply, applyAll, clientOf, inParallel, makeNamespace } from './cluster.ts'
import { backends } from './loads.ts'
import { quantile } from './quantile.ts'
import type { Row } from './row.ts'

const NAMESPACE = 'bench-commands'
/** Each command is run so often; the one in the middle counts. */
const RUNS = 9
const AT_ONCE = 16

export interface CommandsOptions {
  /** The program `culvert`, as it is in the image. */
  readonly program: string
  /** Resources of the namespace, each with an Event. */
  readonly resources: number
}

/**
 * How long commands take, compared to floors: starting Node for `--help`, and one `kubectl get` for `why`,
 * which follows a reference to what is missing.
 */
export async function run(
  controlPlane: ControlPlane,
  { program, resources }: CommandsOptions,
): Promise<readonly Row[]> {
  await fill(controlPlane, resources)
  const env = { ...process.env, KUBECONFIG: controlPlane.kubeconfigPath }
  const node = (...args: string[]) => medianMs(async () => (await runProgram(process.execPath, args, { env })).code)
  const kubectl = (...args: string[]) => medianMs(async () => (await controlPlane.kubectl(args)).code)
  const why = `culvert why, ${resources} resources`
  return [
    {
      load: 'culvert --help',
      figure: 'until it ends',
      value: await node(program, '--help'),
      unit: 'ms',
      floor: await node('--eval', ''),
    },
    {
      load: why,
      figure: 'until it ends',
      value: await node(program, 'why', 'edge/shop', '-n', NAMESPACE),
      unit: 'ms',
      floor: await kubectl('get', 'edges.culvert.dev', 'shop', '-n', NAMESPACE),
    },
  ]
}

/** Resources with an Event each, and an Edge that waits for a Backend that does not exist. */
async function fill(controlPlane: ControlPlane, resources: number): Promise<void> {
  const kube = clientOf(controlPlane)
  await makeNamespace(kube, NAMESPACE)
  const manifests = Array.from({ length: resources }, (_, group) => backends.manifests(group)).flat()
  await applyAll(kube, NAMESPACE, manifests)
  await inParallel(manifests, AT_ONCE, async ({ kind, name }) => {
    const regarding = { apiVersion: 'culvert.dev/v1alpha1', kind, name, namespace: NAMESPACE }
    await kube.create(
      events,
      { namespace: NAMESPACE, name },
      {
        apiVersion: 'events.k8s.io/v1',
        kind: 'Event',
        metadata: { name, namespace: NAMESPACE },
        eventTime: new Date().toISOString().replace('Z', '000Z'),
        reportingController: EVENT_SOURCE,
        reportingInstance: 'bench',
        action: 'Created',
        reason: 'Created',
        type: 'Normal',
        note: 'created',
        regarding,
      },
    )
  })
  await apply(kube, NAMESPACE, { kind: 'Edge', name: 'shop', spec: { protocol: 'TLS', backend: { name: 'missing' } } })
  await kube.close()
}

/** @param act answers the exit code, which has to be 0 */
async function medianMs(act: () => Promise<number>): Promise<number> {
  const taken: number[] = []
  for (let each = 0; each < RUNS; each++) {
    const began = performance.now()
    const code = await act()
    if (code !== 0) throw new Error(`a command ended with the exit code ${code}`)
    taken.push(performance.now() - began)
  }
  return quantile(taken, 0.5)
}
