import { inject } from 'vitest'
import { KubeProxy } from '../../builders/kube-proxy.ts'
import type { Manifest } from '../../kinds/kind-test-data.ts'
import type { SpecCase } from '../../kinds/lookup.ts'
import { applyAll, applyNeeds, expectExactlyOneEach, subjectsOf } from './cases.ts'
import { ApiGate, type Gate } from './gates.ts'
import { until } from './wait.ts'
import { conditionOf, World } from './world.ts'

export type GateMaker = (world: World, subjects: readonly Manifest[], proxy: KubeProxy) => Gate

/**
 * Requests that an operator has in flight at the API at once. A stopped request keeps its slot: with more, some would
 * not reach the gate.
 */
const AT_ONCE = 8
/**
 * Requests stopped at the API must not time out before all have reached the gate: the same process would find out their
 * outcome.
 */
const PATIENT = ['--request-timeout', '6s'] as const

/** Parts of the cases that can all be stopped at the API at once. */
export function groupsOf(cases: readonly SpecCase[]) {
  return Array.from({ length: Math.ceil(cases.length / AT_ONCE) }, (_, index) => {
    const group = cases.slice(index * AT_ONCE, (index + 1) * AT_ONCE)
    return { group, kinds: group.map(({ kind }) => kind).join(', ') }
  })
}

/** Like `killsAt`, for a group of `groupsOf` and the writes to the API. */
export function killsAtApi(group: readonly SpecCase[]): Promise<number> {
  return killsAt(group, (world, subjects) => new ApiGate('write, then answer', world, subjects), PATIENT)
}

/**
 * Kills the operator at every stop of the gate until the cases are Ready, and checks that each has exactly one object.
 * @param flags further flags of the operator
 * @returns how often it was killed
 */
export async function killsAt(
  cases: readonly SpecCase[],
  gateOf: GateMaker,
  flags: readonly string[] = [],
): Promise<number> {
  await using proxy = await KubeProxy.start(inject('kubeconfigPath'))
  // A stopped request holds its worker: with fewer workers than CRs, some would not reach the gate.
  const workers = String(2 * cases.length)
  await using world = await World.open({
    flags: ['--kubeconfig', proxy.kubeconfigPath, '--workers', workers, ...flags],
  })
  await applyNeeds(world, cases, ['a'])
  await world.operator.stop()
  const subjects = subjectsOf(cases, 'a')
  await applyAll(world, subjects)
  const kills = await walk(world, subjects, gateOf(world, subjects, proxy))
  await expectExactlyOneEach(world)
  return kills
}

/**
 * Starts the operator and kills it once each of the CRs is either stopped at the gate or Ready; repeats this until all
 * are Ready and the gate has nothing to stop. Leaves the operator running.
 * @returns how often it was killed
 */
async function walk(world: World, subjects: readonly Manifest[], gate: Gate): Promise<number> {
  for (let kills = 0; kills < MOST_KILLS; kills++) {
    gate.close()
    const operator = await world.startOperator()
    const reached = await standstill(world, subjects, gate)
    if (reached.size > 0) await operator.kill()
    gate.open()
    if (reached.size === 0) return kills
  }
  throw new Error(`no end after ${MOST_KILLS} kills`)
}

/** Well above what any CR needs: a gate that lets nothing through must not loop forever. */
const MOST_KILLS = 40

async function standstill(world: World, subjects: readonly Manifest[], gate: Gate): Promise<ReadonlySet<string>> {
  const moving = async (reached: ReadonlySet<string>): Promise<readonly string[]> => {
    const left = subjects.filter(({ name }) => !reached.has(name))
    const crs = await Promise.all(left.map(({ kind, name }) => world.get(kind, name)))
    return left.filter((_, index) => conditionOf(crs[index], 'Ready')?.status !== 'True').map(({ name }) => name)
  }
  const look = async () => {
    if ((await moving(await gate.reached())).length > 0) return undefined
    // A write that has just made a CR Ready may still be passing the gate, with its answer yet to be stopped.
    const reached = await gate.reached()
    return (await moving(reached)).length === 0 ? gate.reached() : undefined
  }
  const describe = async () => ({
    moving: await moving(await gate.reached()),
    log: world.operator.log.split('\n').slice(-40),
  })
  return until('every resource is Ready or has reached the gate', look, { timeoutMs: 120_000, describe })
}
