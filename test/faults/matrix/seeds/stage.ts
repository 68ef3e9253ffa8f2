import { DECIDED } from '../../../../src/emulator/choices/choices.ts'
import type { CustomResource } from '../../../../src/managed/cr.ts'
import { unresolvedAttempt } from '../../../../src/managed/cr.ts'
import { PAUSED } from '../../../../src/managed/names.ts'
import { EDIT_SEED } from '../../../kinds/shared/account.ts'
import { type AccountEdit, accountEdits, prepareEdits } from '../../simulation/account-edits.ts'
import { headersOf, KEY } from '../../simulation/api-server.ts'
import { deleteByHand, drift } from '../../simulation/episodes.ts'
import type { Sighting, Trouble } from '../../simulation/faults.ts'
import { keptRules, meaningAt } from '../../simulation/meaning-at.ts'
import { type SimulatedOperator, times } from '../../simulation/operator.ts'
import { differences, LOOK_MS, Oracle, textOf } from '../../simulation/oracle.ts'
import { changeOutputs, type OutputChange } from '../../simulation/outputs-by-hand.ts'
import { putBackEtcd } from '../../simulation/restore/running.ts'
import { ASKING, reasonOf, takeBack, unmarked } from '../../simulation/restore/taking-back.ts'
import { type Laboratory, mixOf, type SimulatedWorld, type WorldOptions } from '../../simulation/world.ts'
import { MIX_SEED } from '../../support/size.ts'
import { lagging, lagOf } from '../lagging-reads.ts'
import { DEPENDENT_KINDS, Dependents } from './dependents.ts'
import { Found, LEFT_RULES, type Mode, REFUSALS } from './found.ts'
import type { Fresh } from './fresh.ts'
import { Past } from './past.ts'
import { Plagues } from './plagues.ts'
import { kindsAmong, needsAmong, type Role } from './roles.ts'
import type { Step, Story } from './story.ts'

type Fields = Readonly<Record<string, unknown>>

/** In the middle of a story, the longest wait for everything to be at rest. */
const PATIENCE_MS = 60_000
/** A watch is abandoned when it has been silent for this long, and reopened after a pause. */
const STALL_MS = times.watchSilenceMs + 60_000
/** At the end, the longest wait for deletions. */
const FAREWELL_MS = 20 * 60_000

/**
 * Objects that may be reported as orphans after etcd was put back: those of resources created since, which nobody knows
 * any more.
 */
const MOST_ORPHANS = 20
/** Operators have listed everything again within this time after an outage. */
const LISTED_MS = 60_000
/** One in this many stories gets its lists from Kubernetes in pages. */
const PAGED_OF = 3
/** In one in this many stories the API's reads lag behind its writes: the last of each row. */
const LAGGING_OF = 4
/** One in this many stories meets a server with other choices, if such a mix was drawn. */
const MIXED_OF = 5

/** The outcome of a story. */
export interface Told {
  /** Violations; empty if all is well. */
  readonly problems: readonly string[]
  /** Every request that left an operator, with its time and in a description that is the same in every world. */
  readonly trace: readonly string[]
}

function mixed({ seed, choices }: Story): Pick<WorldOptions, 'choices'> {
  if (choices !== undefined) return { choices: { ...DECIDED, ...choices } }
  if (MIX_SEED === undefined || seed % MIXED_OF !== 0) return {}
  return { choices: mixOf(`${MIX_SEED}.${seed}`) }
}

/** Plays a story from beginning to end, and judges the result. */
export async function tell(laboratory: Laboratory, fresh: Fresh, story: Story): Promise<Told> {
  const stage = await Stage.open(laboratory, story)
  let problems: readonly string[]
  try {
    for (const step of story.steps) await stage.play(step)
    problems = await stage.end()
  } finally {
    stage.close()
  }
  // A world ends when the next one begins: fresh resources are compared afterwards.
  const compared: string[] = []
  for (const { role, version, meaning } of stage.left) {
    compared.push(...differences(await fresh.of(role, version), meaning, `${role.kind}/${role.name}`))
  }
  return { problems: [...problems, ...compared], trace: stage.trace }
}

/** A resource as the story left it. */
interface Left {
  readonly role: Role
  readonly version: number
  readonly meaning: unknown
}

class Stage {
  readonly trace: string[] = []
  /** The resources at the end. */
  readonly left: Left[] = []
  readonly #world: SimulatedWorld
  readonly #oracle: Oracle
  readonly #plagues: Plagues
  readonly #cast: readonly Role[]
  /** Wanted versions, by index in the cast; a resource without an entry should not exist. */
  readonly #wanted = new Map<number, number>()
  /** Specs that resources were given since they were last at rest: edges keep what all of these have. */
  readonly #since = new Map<number, Fields[]>()
  /** Edits made to the Account. */
  readonly #edits = new Set<AccountEdit>()
  /** How far clocks are off. Milliseconds. */
  readonly #stepped = { operators: 0, servers: 0 }
  /** The most that the servers' clock was ahead. Milliseconds. */
  #ahead = 0
  /** Lasts until the end. */
  #lag: Trouble | undefined
  readonly #past: Past
  /** Whether etcd was put back. */
  #isPutBack: boolean = false
  /** Whether an old manifest or a restored resource may name an object that was deleted since. */
  #mayNameDeleted: boolean = false
  /** Until then operators need not know that etcd was put back, and may delete objects by what they observed before. */
  #unknownUntil = 0
  /** Until then they may finish any reconcile that they had begun, and lead by a Lease that was put back too. */
  #endingUntil = 0
  /** Until then calls of the old session overlap with those of its successor, which may repeat an update. */
  #overlapUntil = 0
  /** Objects from before the story, by index in the cast. */
  readonly #found: ReadonlyMap<number, Found>
  /** Dependents of its policies outside the cast; undefined: none. */
  readonly #dependents: Dependents | undefined
  /** Whether changes were made by hand, which operators notice only at a resync of the account. */
  #hasMeddled: boolean = false

  private constructor(
    world: SimulatedWorld,
    oracle: Oracle,
    { cast, seed, steps }: Story,
    found: ReadonlyMap<number, Found>,
  ) {
    this.#world = world
    this.#found = found
    this.#oracle = oracle
    this.#cast = cast
    this.#plagues = new Plagues(world)
    this.#past = new Past(world, cast)
    this.#dependents = hasDependents(steps) ? new Dependents(world, oracle) : undefined
    this.#lag = seed % LAGGING_OF === LAGGING_OF - 1 ? lagging(lagOf(Math.floor(seed / LAGGING_OF))) : undefined
    world.trouble = {
      request: (sighting) => {
        this.trace.push(this.#noted(sighting))
        if (this.#endsWhatItBegan(sighting)) oracle.excuse(sighting)
        return this.#plagues.request(sighting) ?? this.#lag?.request(sighting)
      },
      frame: (watch) => this.#plagues.frame(watch),
    }
    this.#allow()
  }

  static async open(laboratory: Laboratory, story: Story): Promise<Stage> {
    const { seed, cast, replicas, isShared = false, steps } = story
    const further = hasDependents(steps) ? DEPENDENT_KINDS : []
    const world = laboratory.world({
      seed,
      kinds: new Set([...kindsAmong(cast), ...further]),
      replicas,
      isShared,
      ...mixed(story),
    })
    world.api.emulator.admin.seed(EDIT_SEED)
    if (seed % PAGED_OF === 0) world.server.pageSize = 1
    prepareEdits(world)
    if (hasDependents(steps)) Dependents.prepare(world)
    const oracle = await Oracle.watch(world)
    for (const { kind, name, spec } of needsAmong(cast)) world.apply(kind, name, spec)
    const objects = new Map<number, Found>()
    for (const who of story.adopters ?? []) objects.set(who, await Found.make(world, cast[who] as Role))
    return new Stage(world, oracle, story, objects)
  }

  close(): void {
    this.#world.down()
  }

  async play(step: Step): Promise<void> {
    const world = this.#world
    await world.advance(step.after)
    this.#recreate()
    this.#past.note(this.#wanted)
    switch (step.does) {
      case 'apply':
        this.#wanted.set(step.who, step.version)
        this.#apply(step.who)
        break
      case 'delete':
        this.#wanted.delete(step.who)
        world.delete(this.#role(step.who).kind, this.#role(step.who).name)
        break
      case 'drift':
      case 'remove':
        await this.#meddle(step.does, this.#role(step.who))
        break
      case 'old manifest':
        this.#applyOld(step.who, step.back)
        break
      case 'rotate':
        world.annotate(this.#role(step.who).kind, this.#role(step.who).name, {
          'culvert.dev/rotate-requested-at': `at ${world.time.now}`,
        })
        break
      case 'leave alone':
        this.#leaveAlone(step.who, step.ms)
        break
      case 'change outputs':
        this.#changeOutputs(step.who, step.how)
        break
      case 'rest':
        if (await world.until(() => this.#oracle.isAtRest, PATIENCE_MS)) this.#since.clear()
        break
      case 'kill':
        this.#anyOperator()?.kill()
        break
      case 'pause':
        this.#pause(step.ms)
        break
      case 'outage':
        world.down()
        await world.advance(step.ms)
        world.up()
        break
      case 'clock':
        world.stepWall(step.whose, step.ms)
        this.#stepped[step.whose] += step.ms
        this.#ahead = Math.max(this.#ahead, this.#stepped.servers)
        break
      case 'edit account':
        this.#editAccount(step)
        break
      case 'plague':
        this.#plagues.begin(step)
        break
      case 'use':
        await this.#dependents?.come(step.dependent, step.policy)
        this.#hasMeddled = true
        this.#allow()
        break
      case 'stop using':
        await this.#dependents?.go(step.dependent)
        break
      case 'mode':
        this.#take(step.who, step.mode)
        break
      case 'rival':
        this.#found.get(step.who)?.comeRival(step.mode, this.#wanted.get(step.who) ?? 0)
        break
      case 'rival goes':
        this.#found.get(step.who)?.rivalGoes()
        break
      case 'deafen':
        this.#plagues.deafen(this.#standingBy(), step)
        break
      case 'put back':
        await this.#putBack(step)
    }
  }

  /** Ends all faults, waits for the wanted state, and judges. */
  async end(): Promise<readonly string[]> {
    const world = this.#world
    this.#plagues.end()
    this.#lag = undefined
    this.#setClocksRight()
    for (const { kind, name } of this.#cast) world.annotate(kind, name, { [PAUSED]: null })
    for (const edit of this.#edits) this.#edit(edit, 'end')
    // By then operators have noticed a silent watch, and the deletions that it missed: also one that continues at a
    // revision that etcd has no longer.
    if (this.#plagues.haveStalled || this.#isPutBack) await world.advance(STALL_MS)
    if (this.#isPutBack) this.#applyAgain()
    await this.#dependents?.end()
    const areGone = await world.until(() => !world.all().some(isLeaving), FAREWELL_MS)
    if (!areGone) return this.#oracle.untilRest()
    this.#recreate()
    const unrest = await this.#endFound()
    if (unrest.length > 0) return [...unrest, ...this.#oracle.violations]
    if (this.#hasMeddled) await world.advance(LOOK_MS)
    // A budget of one request a minute, as edits of the Account set it, delays requests in progress for minutes after
    // it is raised.
    if (!(await world.until(() => this.#isAccountSeen, FAREWELL_MS))) return ['the Account was not looked at']
    if (this.#isPutBack && this.#hasMeddled) this.#confirmIdentity()
    if (!this.#isPutBack) this.#oracle.allow({ others: await this.#others() })
    const orphans = this.#found.size * LEFT_RULES
    const problems = this.#isPutBack ? await this.#takeBack() : await this.#oracle.judge(undefined, orphans, LOOK_MS)
    for (const [who, version] of this.#wanted) {
      const role = this.#role(who)
      const { kind, name, versions } = role
      const cr = world.get(kind, name)
      // An object without a marker, created after the snapshot, blocks a second one.
      if (this.#isPutBack && cr !== undefined && reasonOf(cr) === 'Conflict') continue
      // An adopted object carries no marker; that it is as declared is judged above.
      if (this.#found.has(who)) continue
      if (this.#isPutBack && cr !== undefined && (await this.#hasForeignParts(cr))) continue
      const meaning = await meaningAt(world, { kind, name, spec: versions[version] ?? {} })
      this.left.push({ role, version, meaning })
    }
    return [...problems, ...(this.#dependents?.problems ?? [])]
  }

  /**
   * Whether the object has modules or configurations that its spec does not name: those from a lost history count as
   * set by others, since they may be what protects the object.
   */
  async #hasForeignParts(cr: CustomResource): Promise<boolean> {
    if (cr.status?.foreignModules !== undefined) return true
    const place = this.#world.placeOf(cr)
    if (place === undefined) return false
    const object = await this.#world.api.ask('GET', `/${place.path}/${place.id}`)
    const isConfiguration = ([field, value]: readonly [string, unknown]) =>
      field.endsWith('endpoint_configuration') && value !== null
    const named = Object.keys(cr.spec).filter((field) => /endpointConfigurationRef$/i.test(field))
    return Object.entries(object).filter(isConfiguration).length > named.length
  }

  /**
   * An Account that was put back to before its first check cannot tell objects that somebody has removed by hand from
   * another account behind its key: if all are gone, it asks a person, who confirms.
   */
  #confirmIdentity(): void {
    const { account, accountKey, accountType, server, time } = this.#world
    const ready = account?.status?.conditions?.find(({ type }) => type === 'Ready')
    if (ready?.reason !== 'IdentityUnproven') return
    const annotations = { 'culvert.dev/confirm-identity-requested-at': `at ${time.now}` }
    server.patch(accountType, accountKey, { metadata: { annotations } })
  }

  /** Excuses only what may still be so at the end. */
  #allow(): void {
    const others = this.#dependents?.others ?? new Set<string>()
    this.#oracle.allow({ others, refused: this.#found.size === 0 ? [] : REFUSALS })
  }

  /** Objects made by hand, and rules that policies keep although their spec takes rules from elsewhere. */
  async #others(): Promise<ReadonlySet<string>> {
    const others = new Set(this.#dependents?.others)
    for (const { kind, name } of this.#cast) {
      for (const id of await keptRules(this.#world, kind, name)) others.add(id)
    }
    return others
  }

  /**
   * A wanted resource takes its object first, with the spec of the object as found: other specs may not fit an object
   * that was never adopted.
   */
  async #endFound(): Promise<readonly string[]> {
    if (this.#found.size === 0) return []
    for (const [who, found] of this.#found) {
      found.mode = 'Manage'
      await found.end(this.#wanted.has(who))
    }
    const others = this.#dependents?.others ?? new Set()
    this.#hasMeddled = true
    for (const who of this.#found.keys()) if (this.#wanted.has(who)) this.#apply(who)
    if (this.#mayNameDeleted) {
      this.#oracle.allow({ others, refused: ['RemoteMissing'] })
      // A status that was put back may say Ready for a missing object; the next resync of the account finds out.
      await this.#world.advance(LOOK_MS)
      await this.#oracle.untilRest()
      await this.#replaceDeleted()
    }
    // `#takeBack` judges the objects from a lost history that stand in the way, and answers resources that ask for one.
    this.#oracle.allow(this.#isPutBack ? { others, refused: ['Conflict', ...ASKING] } : { others })
    return await this.#oracle.untilRest()
  }

  /**
   * An adopted object may have been deleted with its resource: before it was named again, or in a history that etcd has
   * lost.
   */
  async #replaceDeleted(): Promise<void> {
    for (const [who, found] of this.#found) {
      const version = this.#wanted.get(who)
      const { kind, name } = this.#role(who)
      const cr = this.#world.get(kind, name)
      if (version === undefined || cr === undefined || found.isThere) continue
      if (reasonOf(cr) === 'RemoteMissing') await found.comeAnew(version)
    }
  }

  #take(who: number, mode: Mode): void {
    const found = this.#found.get(who)
    if (found === undefined) return
    found.mode = mode
    if (this.#wanted.has(who)) this.#apply(who)
  }

  #editAccount({ edit, ms }: Extract<Step, { readonly does: 'edit account' }>): void {
    const found = accountEdits.find(({ title }) => title === edit)
    if (found === undefined) throw new Error(`there is no edit of an Account called ${edit}`)
    this.#edits.add(found)
    this.#edit(found, 'begin')
    this.#world.time.setTimer(ms, () => this.#edit(found, 'end'))
  }

  #edit(edit: AccountEdit, turn: 'begin' | 'end'): void {
    if (edit.keepsWorking) this.#overlapUntil = this.#world.time.now + times.requestTimeoutMs
    edit[turn](this.#world)
  }

  #apply(who: number): void {
    const { kind, name, versions } = this.#role(who)
    const spec = versions[this.#wanted.get(who) ?? 0] ?? {}
    const present = this.#world.get(kind, name)
    // It is created again once it is gone.
    if (present !== undefined && isLeaving(present)) return
    const found = this.#found.get(who)
    // An object that is only observed need not match either spec.
    if (found !== undefined) {
      this.#oracle.mayEmpty(kind, name, versions)
      found.apply(this.#wanted.get(who) ?? 0)
      return
    }
    if (present === undefined) this.#since.delete(who)
    this.#specChanges(who, spec)
    this.#world.apply(kind, name, spec)
  }

  #specChanges(who: number, spec: Fields): void {
    const { kind, name } = this.#role(who)
    const present = this.#world.get(kind, name)
    const since = this.#since.get(who) ?? []
    this.#oracle.specChanges(kind, name, spec, since)
    this.#since.set(who, [...since, ...(present === undefined ? [] : [present.spec as Fields]), spec])
  }

  /**
   * Nobody can know an object without a marker whose resource etcd no longer holds: it may be left, and block others.
   */
  async #takeBack(): Promise<readonly string[]> {
    const left = new Set([...(await unmarked(this.#world)).map(({ id }) => id), ...(await this.#others())])
    return await takeBack(this.#world, this.#oracle, { left, refused: ['Conflict'], orphans: MOST_ORPHANS })
  }

  /** As GitOps does once the cluster is back: applies every wanted spec and deletes the other resources. */
  #applyAgain(): void {
    for (const [who, { kind, name }] of this.#cast.entries()) {
      if (this.#wanted.has(who)) this.#apply(who)
      else if (this.#world.get(kind, name) !== undefined) this.#world.delete(kind, name)
    }
  }

  /**
   * All clocks agree in the end: by an operator's clock alone a certificate might not be valid yet. The servers' clock
   * is not set back for that: what the service began by its own clock, such as a certificate, it finishes by that
   * clock.
   */
  #setClocksRight(): void {
    const { operators, servers } = this.#stepped
    const right = this.#ahead
    this.#world.stepWall('operators', right - operators)
    this.#world.stepWall('servers', right - servers)
  }

  /**
   * Like `kubectl apply` with an export. While a create is open, its attempt stays in the annotations: without the
   * attempt, and with a status that does not know of it, nothing would say that a POST may be under way
   * (`docs/reliability.md`).
   */
  #applyOld(who: number, back: number): void {
    const { kind, name } = this.#role(who)
    const old = this.#past.exportOf(who, back)
    const present = this.#world.get(kind, name)
    if (old === undefined || !this.#wanted.has(who) || present === undefined || isLeaving(present)) return
    if (unresolvedAttempt(present) !== undefined) return
    this.#wanted.set(who, old.version)
    this.#mayNameDeleted = true
    this.#world.annotate(kind, name, old.cr.metadata.annotations ?? {})
    this.#apply(who)
  }

  /** Creates again the wanted resources that were deleted, as people and GitOps do. */
  #recreate(): void {
    for (const who of this.#wanted.keys()) {
      const { kind, name } = this.#role(who)
      if (this.#world.get(kind, name) === undefined) this.#apply(who)
    }
  }

  /** The object is changed by hand, if there is one. */
  async #meddle(how: 'drift' | 'remove', { kind, name }: Role): Promise<void> {
    const world = this.#world
    const cr = world.get(kind, name)
    const place = cr === undefined ? undefined : world.placeOf(cr)
    if (place === undefined) return
    // An adopted object is not created again.
    if (how === 'remove' && [...this.#found.keys()].some((who) => this.#role(who).kind === kind)) return
    // A rule deleted by hand may be the last of a policy that something is about to use: no list shows that in time.
    if (how === 'remove' && kind.startsWith('IPPolicy') && this.#dependents !== undefined) return
    const path = `/${place.path}/${place.id}`
    const { status } = await world.api.answerPlainly({ method: 'GET', path, headers: headersOf(KEY), body: '' })
    if (status !== 200) return
    this.#hasMeddled = true
    await (how === 'drift' ? drift : deleteByHand)(kind, name)(world, this.#oracle)
  }

  /** etcd is put back to its state before one of the last steps, while operators run. */
  async #putBack({ steps, revision, ms }: Extract<Step, { readonly does: 'put back' }>): Promise<void> {
    // An operator paused throughout would find a history that continues from its own position: nothing says that it is
    // a different one.
    for (const { process } of this.#world.operators) process.goOn()
    // Operators may delete objects by what they observed before; the restored cluster may say that nobody wanted that.
    for (const { kind, name } of this.#cast) if (kind.startsWith('IPPolicy')) this.#oracle.meddled(kind, name)
    const snapshot = this.#past.goBack(steps)
    this.#isPutBack = true
    this.#mayNameDeleted = true
    this.#unknownUntil = this.#world.time.now + ms + LISTED_MS
    this.#endingUntil = this.#world.time.now + ms + times.renewDeadlineMs
    for (const [who, { kind, name }] of this.#cast.entries()) {
      const held = [...snapshot.objects.values()].find((each) => each.kind === kind && each.metadata.name === name)
      if (held === undefined || this.#found.has(who)) continue
      if (this.#world.get(kind, name) === undefined) this.#since.delete(who)
      this.#specChanges(who, held.spec as Fields)
    }
    this.#oracle.putBack(this.#unknownUntil)
    await putBackEtcd(this.#world, snapshot, { revision, downMs: ms })
    this.#allow()
  }

  #leaveAlone(who: number, ms: number): void {
    const { kind, name } = this.#role(who)
    this.#world.annotate(kind, name, { [PAUSED]: 'true' })
    this.#world.time.setTimer(ms, () => this.#world.annotate(kind, name, { [PAUSED]: null }))
  }

  #changeOutputs(who: number, how: OutputChange): void {
    const { kind, name } = this.#role(who)
    const cr = this.#world.get(kind, name)
    if (cr === undefined) return
    this.#oracle.outputsChange(cr, how)
    changeOutputs(this.#world, cr, how)
  }

  #endsWhatItBegan({ method, server }: Sighting): boolean {
    if (method === 'PATCH' && server === 'api' && this.#world.time.now < this.#overlapUntil) return true
    return this.#world.time.now < (method === 'DELETE' ? this.#unknownUntil : this.#endingUntil)
  }

  #pause(ms: number): void {
    const process = this.#anyOperator()
    if (process === undefined) return
    process.stop()
    this.#world.time.setTimer(ms, () => process.goOn())
  }

  /** The leader, or else any operator. */
  #anyOperator() {
    const running = this.#world.operators.filter(({ isOver }) => !isOver)
    return (running.find((operator) => this.#leads(operator)) ?? running[0])?.process
  }

  get #isAccountSeen(): boolean {
    const { account } = this.#world
    return account?.status?.observedGeneration === account?.metadata.generation
  }

  #standingBy() {
    const running = this.#world.operators.filter(({ isOver }) => !isOver)
    return running.filter((operator) => !this.#leads(operator)).map(({ process }) => process)
  }

  #leads({ process }: SimulatedOperator): boolean {
    return this.#world.leader?.startsWith(`${process.name}_`) ?? false
  }

  #role(who: number): Role {
    return this.#cast[who] as Role
  }

  #noted(sighting: Sighting): string {
    return `${this.#world.time.now} ${sighting.process.name} ${textOf(sighting)}`
  }
}

function hasDependents(steps: readonly Step[]): boolean {
  return steps.some(({ does }) => does === 'use')
}

function isLeaving({ metadata }: { readonly metadata: { readonly deletionTimestamp?: string } }): boolean {
  return metadata.deletionTimestamp !== undefined
}
