import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { runProgram } from '../../../controlplane/run-program.ts'
import { type ReadCertificate, readCertificate } from '../../builders/contract/read-certificate.ts'
import { LeapingClock } from '../../builders/leaping-clock.ts'
import { openSSH, requireOpenSSH } from '../../builders/openssh.ts'
import { HeldOverTime } from './held-over-time.ts'
import { type Login, type LoginOptions, loginAt } from './login-at.ts'
import { OperatorInProcess } from './operator-in-process.ts'
import { until } from './wait.ts'
import { type Resource, World } from './world.ts'

/** While a timer is due within this time, a request is in flight or a retry is pending. */
const QUIET_MS = 60_000
/** A login spends more time waiting than computing. */
const LOGINS_AT_A_TIME = 4

export const USER = 'SSHUserCertificate'
export const HOST = 'SSHHostCertificate'
/** The name of all resources of a life, and of their outputs. */
export const NAME = 'life'

/** A sample: the certificates held at an instant, and how a server and a client judged them. */
export interface Sample {
  readonly at: number
  readonly user: ReadCertificate
  readonly host: ReadCertificate
  readonly login: Login
}

/**
 * A user's and a host's certificate over a time that the test advances. The operator, the emulator and the API server
 * are real; operator and emulator share a clock that leaps.
 */
export class CertificateLife implements AsyncDisposable {
  readonly clock: LeapingClock
  readonly world: World
  readonly secret: HeldOverTime
  readonly configMap: HeldOverTime
  readonly #folder: string
  readonly #sshKeygen: string
  readonly #samples: Promise<Sample>[] = []
  readonly #read = new Map<string, ReadCertificate>()
  readonly #open = new Set<Promise<unknown>>()
  #operator: OperatorInProcess
  #authority = ''

  private constructor(parts: {
    readonly clock: LeapingClock
    readonly world: World
    readonly folder: string
    readonly sshKeygen: string
    readonly operator: OperatorInProcess
  }) {
    this.clock = parts.clock
    this.world = parts.world
    this.#folder = parts.folder
    this.#sshKeygen = parts.sshKeygen
    this.#operator = parts.operator
    const { world, clock } = parts
    this.secret = new HeldOverTime({ world, clock, plural: 'secrets', kind: 'Secret', name: NAME, key: 'id-cert.pub' })
    const file = 'ssh_host_key-cert.pub'
    this.configMap = new HeldOverTime({
      world,
      clock,
      plural: 'configmaps',
      kind: 'ConfigMap',
      name: NAME,
      key: file,
    })
  }

  /** Begins with both certificates issued; each gets its duration fields. */
  static async begin(lengths: Record<typeof USER | typeof HOST, Record<string, unknown>>): Promise<CertificateLife> {
    await requireOpenSSH('ssh', 'ssh-keygen', 'sshd', 'faketime')
    const clock = new LeapingClock()
    const world = await World.open({ operator: false, emulator: { clock } })
    const folder = await mkdtemp(join(tmpdir(), 'culvert-life-'))
    const operator = await OperatorInProcess.start(world, clock)
    const life = new CertificateLife({ clock, world, folder, operator, sshKeygen: await openSSH('ssh-keygen') })
    await life.#apply(lengths)
    return life
  }

  get operator(): OperatorInProcess {
    return this.#operator
  }

  /** Stops the operator, runs `meanwhile`, and starts another one. */
  async restartOperator(meanwhile: () => Promise<void> | void = () => undefined): Promise<void> {
    await this.#operator[Symbol.asyncDispose]()
    await meanwhile()
    this.#operator = await OperatorInProcess.start(this.world, this.clock)
  }

  async get(kind: string): Promise<Resource> {
    const cr = await this.world.get(kind, NAME)
    if (cr === undefined) throw new Error(`${kind} is gone`)
    return cr
  }

  /** Waits until the operator has been idle for a while. */
  async quiet(): Promise<void> {
    await until('nothing is due', () => !this.clock.isDueWithin(QUIET_MS), {
      timeoutMs: 60_000,
      describe: () => this.#operator.log.slice(-20),
    })
  }

  /** Advances to a wall time, unless it has passed, once all is quiet. */
  async passTo(wall: number): Promise<void> {
    await this.quiet()
    this.clock.leapTo(wall)
  }

  /** Starts a login with the current certificates, without waiting for its result. */
  async sample(): Promise<void> {
    const [user, host] = await Promise.all([this.secret.now(), this.configMap.now()])
    const at = this.clock.now()
    while (this.#open.size >= LOGINS_AT_A_TIME) await Promise.race(this.#open)
    const login = this.login({ at, certificate: user, hostCertificate: host })
    this.#open.add(login)
    void login.finally(() => this.#open.delete(login)).catch(() => undefined)
    this.#samples.push(login.then((seen) => ({ at, user: this.read(user), host: this.read(host), login: seen })))
  }

  /** Every sample taken, with the result of its login. */
  samples(): Promise<readonly Sample[]> {
    return Promise.all(this.#samples)
  }

  /** Logs in at any time with any certificates. */
  login(options: Pick<LoginOptions, 'at' | 'certificate' | 'hostCertificate'>): Promise<Login> {
    return loginAt({
      ...options,
      folder: this.#folder,
      user: userInfo().username,
      key: join(this.#folder, 'id'),
      hostKey: join(this.#folder, 'host'),
      authority: this.#authority,
    })
  }

  /** A certificate as OpenSSH reads it. */
  read(certificate: string): ReadCertificate {
    const found = this.#read.get(certificate) ?? readCertificate(this.#sshKeygen, certificate)
    this.#read.set(certificate, found)
    return found
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.allSettled(this.#open)
    await Promise.all([this.#operator, this.secret, this.configMap].map((part) => part[Symbol.asyncDispose]()))
    await this.world[Symbol.asyncDispose]()
    await rm(this.#folder, { recursive: true })
  }

  async #apply(lengths: Record<typeof USER | typeof HOST, Record<string, unknown>>): Promise<void> {
    const { world } = this
    const signed = { sshCertificateAuthorityRef: { name: NAME } }
    const user = {
      ...signed,
      publicKey: await this.#newKey('id'),
      principals: [userInfo().username],
      output: { secret: { name: NAME } },
    }
    const host = {
      ...signed,
      publicKey: await this.#newKey('host'),
      principals: ['localhost'],
      output: { configMap: { name: NAME } },
    }
    await world.apply('SSHCertificateAuthority', NAME, { privateKeyType: 'Ed25519' })
    await world.apply(USER, NAME, { ...user, ...lengths[USER] })
    await world.apply(HOST, NAME, { ...host, ...lengths[HOST] })
    this.#authority = String((await world.ready('SSHCertificateAuthority', NAME)).status?.publicKey)
    await Promise.all([world.ready(USER, NAME), world.ready(HOST, NAME)])
    await Promise.all([this.secret.begin(), this.configMap.begin()])
  }

  /** @returns the public key. */
  async #newKey(name: string): Promise<string> {
    const file = join(this.#folder, name)
    await runProgram(this.#sshKeygen, ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', file])
    return readFile(`${file}.pub`, 'utf8')
  }
}
