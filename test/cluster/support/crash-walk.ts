import { inject } from 'vitest'
import { KubeProxy } from '../../builders/kube-proxy.ts'
import type { Manifest, SpecCase } from '../../builders/specs.ts'
import { applyAll, applyNeeds, expectExactlyOneEach, subjectsOf } from './cases.ts'
import { ApiGate, type Gate } from './gates.ts'
import { until } from './wait.ts'
import { conditionOf, World } from './world.ts'

export type GateMaker = (world: World, subjects: readonly Manifest[], proxy: KubeProxy) => Gate

/** So many requests are under way at the API at once. One that is stopped keeps its turn: with more, some would not come to the gate. */
const AT_ONCE = 8
/** What is stopped at the API must not be given up before all have come to the gate: it would be found out about in the same life. */
const PATIENT = ['--request-timeout', '6s'] as const

/** Parts of the cases, all of which can be stopped at the API at once. */
export function groupsOf(cases: readonly SpecCase[]) {
  return Array.from({ length: Math.ceil(cases.length / AT_ONCE) }, (_, index) => {
    const group = cases.slice(index * AT_ONCE, (index + 1) * AT_ONCE)
    return { group, kinds: group.map(({ kind }) => kind).join(', ') }
  })
}

/** As `killsAt`, for a group of `groupsOf` and the writes to the API. */
export function killsAtApi(group: readonly SpecCase[]): Promise<number> {
  return killsAt(group, (world, subjects) => new ApiGate('write, then answer', world, subjects), PATIENT)
}

/**
 * Kills the operator at every stop of the gate on the way of the cases to Ready, and checks that exactly one object of each came of it.
 * @param flags further flags of the operator
 * @returns how often it was killed
 */
export async function killsAt(
  cases: readonly SpecCase[],
  gateOf: GateMaker,
  flags: readonly string[] = [],
): Promise<number> {
  await using proxy = await KubeProxy.start(inject('kubeconfigPath'))
  // A request that is stopped holds its worker: with fewer than CRs, the others would not come to the gate.
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
 * Starts the operator and kills it when each of the CRs is either stopped at the gate or Ready; again and again, until all are Ready
 * and the gate has nothing to stop. Leaves the operator running.
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

/** Well above what any CR needs: a gate that lets nothing through must not go on for ever. */
const MOST_KILLS = 40

async function standstill(world: World, subjects: readonly Manifest[], gate: Gate): Promise<ReadonlySet<string>> {
  const moving = async (reached: ReadonlySet<string>): Promise<readonly string[]> => {
    const left = subjects.filter(({ name }) => !reached.has(name))
    const crs = await Promise.all(left.map(({ kind, name }) => world.get(kind, name)))
    return left.filter((_, index) => conditionOf(crs[index], 'Ready')?.status !== 'True').map(({ name }) => name)
  }
  const look = async () => {
    if ((await moving(await gate.reached())).length > 0) return undefined
    // A write that has just made a CR Ready may be on its way through the gate still, with its answer to be stopped.
    const reached = await gate.reached()
    return (await moving(reached)).length === 0 ? gate.reached() : undefined
  }
  const describe = async () => ({
    moving: await moving(await gate.reached()),
    log: world.operator.log.split('\n').slice(-40),
  })
  return until('every resource is Ready or has come to the gate', look, { timeoutMs: 120_000, describe })
}
