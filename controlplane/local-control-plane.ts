import { cp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buildControllers } from './build.ts'
import { formatDuration, type OnProgress } from './build-progress.ts'
import { Component } from './component.ts'
import { apiserverArguments, controllersArguments, etcdArguments } from './component-arguments.ts'
import type { ControlPlane } from './control-plane.ts'
import { type AuditLevel, type ControlPlaneFolder, createFolder, removeFolder, writeKubeconfigs } from './folder.ts'
import { createKubectl, type Kubectl, type KubectlOptions } from './kubectl.ts'
import { startOnFreePort } from './ports.ts'
import { obtainPrograms, type Program, type Programs } from './programs.ts'
import { ApiserverProbe, type Awaited, readWhenThere, waitFor } from './readiness.ts'
import type { ProgramResult } from './run-program.ts'
import { Watchdog } from './watchdog.ts'

/** The variable settings of a local control plane. */
export interface LocalSettings {
  /** Undefined: no audit log. */
  readonly auditLevel: AuditLevel | undefined
  /** Undefined: in the folder of the control plane. */
  readonly auditLogFile: string | undefined
  readonly controllers: readonly string[]
  /** See `ControlPlaneOptions.awaitControllers`. */
  readonly awaitControllers: boolean
  /** See `ProgramSources.assets`. */
  readonly assets: string | undefined
  /** See `ProgramSources.publishedAt`. */
  readonly publishedAt: string
  /** See `ControlPlaneOptions.data`. */
  readonly data: string | undefined
  readonly onProgress: OnProgress
}

/** Generous, because two cores may be shared with whole test suites; the end of a component is noticed at once. */
const START_TIMEOUT_MILLISECONDS = 120_000

/** etcd, kube-apiserver and the controllers as processes of this machine, in a temporary folder. */
export class LocalControlPlane implements ControlPlane {
  readonly kubectlPath: string
  readonly #settings: LocalSettings
  readonly #programs: Programs
  readonly #folder: ControlPlaneFolder
  readonly #watchdog: Watchdog
  readonly #kubectl: Kubectl
  #etcd: Component | undefined
  #apiserver: Component | undefined
  #controllers: Component | undefined
  #controllersPending: Promise<void> | undefined
  readonly #stopping = new AbortController()
  #port = 0
  #stopped: Promise<void> | undefined

  private constructor(settings: LocalSettings, programs: Programs, folder: ControlPlaneFolder, watchdog: Watchdog) {
    this.#settings = settings
    this.#programs = programs
    this.#folder = folder
    this.#watchdog = watchdog
    this.kubectlPath = programs.kubectl
    this.#kubectl = createKubectl({
      path: programs.kubectl,
      kubeconfig: folder.adminKubeconfig,
      cacheFolder: folder.kubectlCacheFolder,
    })
  }

  /** Obtains what is missing, starts everything and resolves once the API serves and its controllers work. */
  static async start(settings: LocalSettings): Promise<LocalControlPlane> {
    const programs = await obtainPrograms({
      assets: settings.assets,
      publishedAt: settings.publishedAt,
      searchPath: process.env.PATH ?? '',
      onProgress: settings.onProgress,
    })
    // Before the clock starts: the time that is reported is that of the start.
    if (settings.awaitControllers && settings.controllers.length > 0) {
      await buildControllers({ onProgress: settings.onProgress })
    }
    const started = performance.now()
    const folder = await createFolder(settings.auditLevel ?? 'Metadata', settings.auditLogFile)
    const watchdog = await Watchdog.start(programs.watchdog, folder.path)
    const controlPlane = new LocalControlPlane(settings, programs, folder, watchdog)
    try {
      await controlPlane.#startServers()
      controlPlane.#startControllersBeside()
      if (settings.awaitControllers) await controlPlane.#controllersPending
    } catch (error) {
      await controlPlane.stop()
      throw error
    }
    settings.onProgress(
      `Kubernetes ${programs.version} is ready at ${controlPlane.server} after ${formatDuration(performance.now() - started)}`,
    )
    return controlPlane
  }

  get kubeconfigPath(): string {
    return this.#folder.adminKubeconfig
  }

  get server(): string {
    return `https://127.0.0.1:${this.#port}`
  }

  get adminToken(): string {
    return this.#folder.adminToken
  }

  get auditLogPath(): string | undefined {
    return this.#settings.auditLevel === undefined ? undefined : this.#folder.auditLogFile
  }

  get pids(): readonly number[] {
    const running = [this.#etcd, this.#apiserver, this.#controllers].filter((component) => component?.running)
    return [this.#watchdog.pid, ...running.map((component) => component?.pid ?? 0)]
  }

  get controllersPending(): Promise<void> | undefined {
    return this.#controllersPending
  }

  kubectl(args: readonly string[], options?: KubectlOptions): Promise<ProgramResult> {
    return this.#kubectl.run(args, options)
  }

  async restartApiserver(): Promise<void> {
    await this.#apiserver?.stop()
    await this.startApiserver()
  }

  async killApiserver(): Promise<void> {
    await this.#apiserver?.kill()
  }

  async startApiserver(): Promise<void> {
    if (this.#apiserver?.running) return
    await this.#startApiserverAt(this.#port)
    if (this.#controllers === undefined) return
    // Its watches reconnect only after their own backoff: after 20 s without a server, namespaces took 45 s to empty.
    await this.#controllers.stop()
    await this.#startControllers()
  }

  async copyData(folder: string): Promise<void> {
    // What is in its files while it does nothing is what it would find after a crash.
    this.#etcd?.suspend()
    try {
      await cp(this.#folder.etcdFolder, folder, { recursive: true, errorOnExist: true, force: false })
    } finally {
      this.#etcd?.resume()
    }
  }

  stop(): Promise<void> {
    this.#stopped ??= this.#stopAll()
    return this.#stopped
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  async #startServers(): Promise<void> {
    const { data } = this.#settings
    if (data !== undefined) await cp(data, this.#folder.etcdFolder, { recursive: true })
    this.#etcd = await this.#start('etcd', this.#programs.etcd, etcdArguments(this.#folder))
    await startOnFreePort((port) => this.#startApiserverAt(port))
  }

  #startControllersBeside(): void {
    if (this.#settings.controllers.length === 0) return
    const pending = this.#startControllers().then(() => {
      this.#controllersPending = undefined
    })
    this.#controllersPending = pending
    // A failure is for those who wait for `controllersPending`.
    pending.catch(() => {})
  }

  async #startApiserverAt(port: number): Promise<void> {
    this.#port = port
    const auditLog = this.#settings.auditLevel !== undefined
    const apiserverFlags = apiserverArguments(this.#folder, { port, auditLog })
    const apiserver = await this.#start('kube-apiserver', this.#programs.apiserver, apiserverFlags)
    this.#apiserver = apiserver
    const ca = await waitFor({ what: "the apiserver's certificate", ...this.#from(apiserver) }, () =>
      readWhenThere(this.#folder.apiserverCertificateFile),
    )
    await writeKubeconfigs(this.#folder, this.server, ca)
    await this.#awaitPaths(apiserver, ['/readyz', '/api/v1/namespaces/kube-system', '/api/v1/namespaces/default'])
  }

  async #startControllers(): Promise<void> {
    const { controllers } = this.#settings
    const path = await buildControllers({ lowPriority: true, signal: this.#stopping.signal })
    const program = { path, leading: [] }
    this.#controllers = await this.#start('controllers', program, controllersArguments(this.#folder, controllers))
    if (controllers.includes('serviceaccount-controller')) {
      // This ServiceAccount shows that controllers run; without them namespaces would stay forever.
      await this.#awaitPaths(this.#controllers, ['/api/v1/namespaces/default/serviceaccounts/default'])
    }
  }

  async #awaitPaths(by: Component, paths: readonly string[]): Promise<void> {
    const ca = await readFile(this.#folder.apiserverCertificateFile)
    const probe = new ApiserverProbe(this.server, ca, this.#folder.adminToken)
    try {
      for (const path of paths) await waitFor({ what: `${path} to answer`, ...this.#from(by) }, () => probe.ok(path))
    } finally {
      probe.close()
    }
  }

  #from(by: Component): Omit<Awaited, 'what'> {
    return { by, needs: [this.#etcd, this.#apiserver], timeoutMilliseconds: START_TIMEOUT_MILLISECONDS }
  }

  async #start(name: string, { path, leading }: Program, args: readonly string[]): Promise<Component> {
    const component = await Component.start({
      name,
      program: path,
      args: [...leading, ...args],
      logFile: join(this.#folder.path, `${name}.log`),
    })
    this.#watchdog.add(component.pid)
    void component.ended.then((reason) => {
      this.#watchdog.remove(component.pid)
      if (!component.askedToEnd) this.#settings.onProgress(`${name} ended unexpectedly with ${reason}`)
    })
    return component
  }

  /** The apiserver before etcd: if etcd is gone, it lingers for minutes and keeps its port. */
  async #stopAll(): Promise<void> {
    this.#stopping.abort()
    await Promise.allSettled([this.#controllersPending])
    await this.#controllers?.stop()
    await this.#apiserver?.stop()
    await this.#etcd?.stop()
    await removeFolder(this.#folder)
    await this.#watchdog.dismiss()
  }
}
