import { expect, inject, test } from 'vitest'
import { KubeProxy } from '../../builders/kube-proxy.ts'
import { applyNeeds, casesTitled, expectExactlyOneEach } from '../../cluster/support/cases.ts'
import { LaneFinder } from '../../cluster/support/priorities.ts'
import { World } from '../../cluster/support/world.ts'
import type { Manifest } from '../../kinds/kind-test-data.ts'
import { type Case, CaseList } from '../support/case-list.ts'
import { type LifeStage, lifeStages, livesOf, resourcesOf, settleAll, showsEdit } from './support-kube/lives.ts'
import { type Trial, Trials } from './support-kube/trials.ts'
import { sharedWrites, textOf, Writes } from './support-kube/writes.ts'

const cases = casesTitled('minimal')
/** Resources of each kind that live undisturbed while their writes are recorded. */
const WITNESSES = ['a', 'b', 'c']
/** Resources of each kind that live at the same time, each with its own faults. */
const WAVES = [1, 2, 3, 4].map((wave) => [1, 2, 3, 4].map((index) => `w${wave}-${index}`))

/** One world in which resources of every kind begin and end their lives. */
class Lives {
  readonly world: World
  readonly writes: Writes
  /** How many of each kind have finished. */
  #ended = 0

  constructor(world: World, writes: Writes) {
    this.world = world
    this.writes = writes
  }

  /** Takes the subjects through a stage. @returns the problems by name. */
  async through(
    stage: LifeStage,
    subjects: readonly Manifest[],
    perKind: number,
  ): Promise<ReadonlyMap<string, string>> {
    const former = await resourcesOf(this.world, subjects)
    await Promise.all(subjects.map((subject) => stage.begin(this.world, subject)))
    const wrong = new Map(await settleAll(this.world, subjects, stage, former))
    if (stage.name === 'edit') {
      for (const subject of subjects) {
        if (!(await showsEdit(this.world, subject))) wrong.set(subject.name, 'the object does not show the edit')
      }
    }
    if (stage.name === 'delete') this.#ended += perKind
    return wrong
  }

  /** Everything is up to date, and nothing is written any more. */
  async expectAtRest(): Promise<void> {
    await expectExactlyOneEach(this.world, this.#ended)
    const before = this.writes.count
    await this.world.resync()
    expect(this.writes.count).toBe(before)
  }
}

test('a write to Kubernetes that fails in any way only delays the resource', {
  timeout: 900_000,
}, async () => {
  const list = new CaseList('Kubernetes faults', 'real', { least: 500 })
  await using proxy = await KubeProxy.start(inject('kubeconfigPath'))
  const flags = ['--kubeconfig', proxy.kubeconfigPath, '--workers', '32', '--request-timeout', '4s']
  await using world = await World.open({ flags })
  const [writes, finder] = [new Writes(), new LaneFinder(world)]
  writes.follow(proxy, (request) => finder.atKube(request))
  const lives = new Lives(world, writes)
  await applyNeeds(world, cases, [...WITNESSES, ...WAVES.flat()])
  const trials = await trialsFrom(lives)
  for (const wave of WAVES) {
    const subjects = wave.flatMap((suffix) => livesOf(cases, suffix))
    for (const stage of lifeStages) await hurt(lives, stage, subjects, { trials, list, perKind: wave.length })
  }
  await list.end()
})

type TrialsOf = (kind: string, stage: LifeStage) => Trials

/** The faults to try, derived from undisturbed lives. */
async function trialsFrom(lives: Lives): Promise<TrialsOf> {
  const witnesses = WITNESSES.flatMap((suffix) => livesOf(cases, suffix))
  for (const stage of lifeStages) {
    const subjects = witnesses.filter(({ kind }) => comesTo(stage, kind))
    for (const { name } of subjects) lives.writes.enter(name, stage.name)
    expect(await lives.through(stage, subjects, WITNESSES.length)).toEqual(new Map())
    await lives.expectAtRest()
  }
  const trials = new Map<string, Trials>()
  for (const [index, { kind }] of cases.entries()) {
    const passed = witnesses.filter((each) => each.kind === kind).map(({ name }) => lives.writes.passed(name))
    for (const { name } of lifeStages) trials.set(`${kind} ${name}`, new Trials(sharedWrites(passed, name), index))
  }
  return (kind, { name }) => trials.get(`${kind} ${name}`) as Trials
}

interface Wave {
  readonly trials: TrialsOf
  readonly list: CaseList
  readonly perKind: number
}

/** Takes the subjects through a stage, each with its own fault, and records the results. */
async function hurt(lives: Lives, stage: LifeStage, all: readonly Manifest[], wave: Wave): Promise<void> {
  const subjects = all.filter(({ kind }) => comesTo(stage, kind))
  const tried = new Map<Manifest, Trial>()
  for (const subject of subjects) {
    const trial = wave.trials(subject.kind, stage).take()
    if (trial !== undefined) tried.set(subject, trial)
    lives.writes.enter(subject.name, stage.name, trial)
  }
  const wrong = await lives.through(stage, subjects, wave.perKind)
  const whole = await lives.expectAtRest().then(
    () => undefined,
    (error: unknown) => String(error),
  )
  for (const [subject, trial] of tried) {
    // For a subject that failed, the rest adds nothing.
    if (wrong.size > 0 && !wrong.has(subject.name)) continue
    const why = wrong.get(subject.name) ?? whole
    const isMet = lives.writes.hits(subject.name).length === trial.fault.times
    if (why !== undefined) wave.list.failed(caseOf(subject, trial), why)
    else if (isMet) wave.list.passed(caseOf(subject, trial))
    else wave.trials(subject.kind, stage).again(trial)
  }
  // A defect here would repeat in every later case and hide which one caused it.
  if (whole !== undefined || wrong.size > 0) await wave.list.end()
}

function comesTo({ isFor }: LifeStage, kind: string): boolean {
  return isFor?.(kind) ?? true
}

function caseOf({ kind }: Manifest, { write, fault }: Trial): Case {
  return { write: `${kind} minimal / ${textOf(write)}`, point: fault.point, fault: fault.name }
}
