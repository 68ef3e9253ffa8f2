import { type ChildProcessByStdio, execFile, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { KUBERNETES_VERSION } from '../../controlplane/build.ts'
import { type ControlPlane, startControlPlane } from '../../controlplane/control-plane.ts'
import { obtainPrograms } from '../../controlplane/programs.ts'
import { downloadPrograms, PUBLISHED_AT } from '../../controlplane/published-archive.ts'
import { startServer } from '../builders/http-server.ts'
import { tarOf } from '../builders/tar.ts'
import './provided.ts'

const OWNER = join(import.meta.dirname, 'fixtures', 'control-plane-owner.ts')
const MAIN = join(import.meta.dirname, '..', '..', 'controlplane', 'main.ts')
const PATIENCE = { timeout: 30_000, interval: 100 }

/** Whether a process runs. One that has ended and was not yet reaped does not. */
function isRunning(pid: number): Promise<boolean> {
  return new Promise((resolve) => {
    execFile('ps', ['-o', 'stat=', '-p', String(pid)], (_error, stdout) => {
      const state = stdout.trim()
      resolve(state !== '' && !state.startsWith('Z'))
    })
  })
}

async function runningOf(pids: readonly number[]): Promise<number[]> {
  const running = await Promise.all(pids.map(isRunning))
  return pids.filter((_pid, index) => running[index])
}

async function expectNothingLeft(kubeconfigPath: string, pids: readonly number[]): Promise<void> {
  await vi.waitFor(async () => {
    expect(await runningOf(pids)).toEqual([])
    expect(existsSync(dirname(kubeconfigPath))).toBe(false)
  }, PATIENCE)
}

interface Owned {
  readonly kubeconfigPath: string
  readonly pids: readonly number[]
}

type Owner = ChildProcessByStdio<null, Readable, null>

function spawnNode(script: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): Owner {
  return spawn(process.execPath, [script, ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, ...env },
  })
}

async function startOwner(
  then: 'wait' | 'end',
  env?: NodeJS.ProcessEnv,
): Promise<{ owner: Owner; owned: Owned; exit: Promise<unknown[]> }> {
  const owner = spawnNode(OWNER, [then], env)
  const exit = once(owner, 'exit')
  const [line] = await once(createInterface(owner.stdout), 'line')
  const owned: Owned = JSON.parse(String(line))
  expect(owned.pids).toHaveLength(4)
  return { owner, owned, exit }
}

describe('a control plane', () => {
  let controlPlane: ControlPlane

  beforeAll(async () => {
    controlPlane = await startControlPlane({ auditLog: true })
  })
  afterAll(() => controlPlane.stop())

  async function kubectl(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await controlPlane.kubectl(args)
    expect(stderr).toBe('')
    expect(code).toBe(0)
    return stdout
  }

  it('has a version that clients can parse', async () => {
    const version = JSON.parse(await kubectl('version', '-o', 'json'))
    const [major, minor] = KUBERNETES_VERSION.split('.')
    expect(version.serverVersion).toMatchObject({
      gitVersion: expect.stringMatching(`^v${major}.${minor}.[0-9]+$`),
      major,
      minor,
    })
  })

  it('accepts manifests from standard input', async () => {
    const manifest = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'from-stdin' }, data: { key: 'value' } }
    const applied = await controlPlane.kubectl(['apply', '--server-side', '-f', '-'], {
      stdin: JSON.stringify(manifest),
    })
    expect(applied).toMatchObject({ code: 0, stdout: 'configmap/from-stdin serverside-applied\n' })
    expect(await kubectl('get', 'configmap', 'from-stdin', '-o', 'jsonpath={.data.key}')).toBe('value')
  })

  it('returns what kubectl refuses as a result', async () => {
    const result = await controlPlane.kubectl(['get', 'configmap', 'absent'])
    expect(result.code).toBe(1)
    expect(result.stderr).toContain('NotFound')
  })

  it('runs side by side with another one and shares nothing with it', { tags: 'nightly' }, async () => {
    await using other = await startControlPlane()
    expect(other.server).not.toBe(controlPlane.server)
    await kubectl('create', 'namespace', 'only-here')
    expect((await other.kubectl(['get', 'namespace', 'only-here'])).code).toBe(1)
    expect(await runningOf(other.pids)).toHaveLength(4)
  })

  it('begins with what another one held, and shares nothing with it afterwards', { tags: 'nightly' }, async () => {
    await kubectl('create', 'configmap', 'copied')
    const data = join(dirname(controlPlane.kubeconfigPath), 'copy')
    await controlPlane.copyData(data)
    await kubectl('create', 'configmap', 'later')
    await using other = await startControlPlane({ data, controllers: [] })
    expect((await other.kubectl(['get', 'configmap', 'copied'])).code).toBe(0)
    expect((await other.kubectl(['get', 'configmap', 'later'])).stderr).toContain('NotFound')
    expect((await other.kubectl(['delete', 'configmap', 'copied'])).code).toBe(0)
    await kubectl('get', 'configmap', 'copied')
  })

  it('serves before its controllers work, if nobody waits for them', { tags: 'nightly' }, async () => {
    await using other = await startControlPlane({ awaitControllers: false })
    const { controllersPending } = other
    expect(controllersPending).toBeInstanceOf(Promise)
    expect(await other.kubectl(['create', 'namespace', 'early'])).toMatchObject({ code: 0 })
    await controllersPending
    expect(other.controllersPending).toBeUndefined()
    expect(await other.kubectl(['delete', 'namespace', 'early', '--timeout=60s'])).toMatchObject({ code: 0 })
  })

  it('can be stopped before its controllers work', { tags: 'nightly' }, async () => {
    const other = await startControlPlane({ awaitControllers: false })
    const { pids, kubeconfigPath } = other
    await other.stop()
    expect(await runningOf(pids)).toEqual([])
    expect(existsSync(dirname(kubeconfigPath))).toBe(false)
  })

  it('leaves no process and no folder after it is stopped', { tags: 'nightly' }, async () => {
    const other = await startControlPlane({ controllers: [] })
    const { pids, kubeconfigPath } = other
    expect(await runningOf(pids)).toHaveLength(3)
    await other.stop()
    await other.stop()
    expect(await runningOf(pids)).toEqual([])
    expect(existsSync(dirname(kubeconfigPath))).toBe(false)
  })

  it('records a request when it arrives and when it is served', async () => {
    await kubectl('create', 'configmap', 'audited')
    const events = (await readFile(controlPlane.auditLogPath ?? '', 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    const [served] = events.filter((event) => event.verb === 'create' && event.objectRef?.name === 'audited')
    const stages = events.filter(({ auditID }) => auditID === served?.auditID)
    expect(stages).toMatchObject([
      { level: 'Metadata', stage: 'RequestReceived', user: { username: 'admin' } },
      { level: 'Metadata', stage: 'ResponseComplete', user: { username: 'admin' }, responseStatus: { code: 201 } },
    ])
  })

  it('keeps its data, address and controllers when the apiserver restarts or crashes', {
    tags: 'nightly',
  }, async () => {
    const { server } = controlPlane
    await kubectl('create', 'namespace', 'survivor')
    await controlPlane.restartApiserver()
    await kubectl('create', 'configmap', 'content', '--namespace', 'survivor')
    await controlPlane.killApiserver()
    expect((await controlPlane.kubectl(['get', 'namespace', 'survivor'])).code).toBe(1)
    await controlPlane.startApiserver()
    expect(controlPlane.server).toBe(server)
    expect(await kubectl('get', 'configmap', 'content', '--namespace', 'survivor', '-o', 'name')).toBe(
      'configmap/content\n',
    )
    await kubectl('delete', 'namespace', 'survivor', '--timeout=60s')
  })

  it('reports that its port was taken while the apiserver was down', { tags: 'nightly' }, async () => {
    await using other = await startControlPlane({ controllers: [] })
    await other.killApiserver()
    const intruder = createServer((socket) => socket.destroy()).listen(Number(new URL(other.server).port), '127.0.0.1')
    await once(intruder, 'listening')
    await expect(other.startApiserver()).rejects.toMatchObject({ code: 'PORT_TAKEN' })
    intruder.close()
    await once(intruder, 'close')
    await other.startApiserver()
    expect((await other.kubectl(['get', 'namespaces'])).code).toBe(0)
  })
})

describe('the owner of a control plane', () => {
  it('ends the control plane when it is killed', { tags: 'nightly' }, async () => {
    const { owner, owned, exit } = await startOwner('wait')
    expect(await runningOf(owned.pids)).toHaveLength(4)
    owner.kill('SIGKILL')
    await exit
    await expectNothingLeft(owned.kubeconfigPath, owned.pids)
  })

  it('ends the control plane on Ctrl-C', { tags: 'nightly' }, async () => {
    const { owner, owned, exit } = await startOwner('wait')
    owner.kill('SIGINT')
    await exit
    await expectNothingLeft(owned.kubeconfigPath, owned.pids)
  })

  it('ends the control plane even if it never stopped it', { tags: 'nightly' }, async () => {
    const { owned, exit } = await startOwner('end')
    expect(await exit).toEqual([0, null])
    await expectNothingLeft(owned.kubeconfigPath, owned.pids)
  })
})

describe('programs in KUBEBUILDER_ASSETS', () => {
  let folder: string
  let assets: string

  // Those of this machine, in an archive as setup-envtest's, where kube-controller-manager is not among them.
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'culvert-assets-'))
    const publishedAt = process.env.CULVERT_ENVTEST_URL ?? PUBLISHED_AT
    const searchPath = process.env.PATH ?? ''
    const onProgress = (): void => {}
    const programs = await obtainPrograms({
      assets: process.env.KUBEBUILDER_ASSETS,
      publishedAt,
      searchPath,
      onProgress,
    })
    const { etcd, apiserver, kubectl } = programs
    const started = { etcd, 'kube-apiserver': apiserver, kubectl: { path: kubectl, leading: [] } }
    const members = Object.entries(started).map(([name, { path, leading }]) => {
      // Without the flag that ends our own programs with their owner.
      const command = [path, ...leading.slice(1)].join(' ')
      return { name: `controller-tools/envtest/${name}`, content: `#!/bin/sh\nexec ${command} "$@"\n` }
    })
    const archive = gzipSync(tarOf(members))
    const server = await startServer((_request, response) => response.end(archive))
    const sha512 = createHash('sha512').update(archive).digest('hex')
    const published = { version: '1.2.3', platform: 'linux-amd64', sha512 }
    try {
      assets = await downloadPrograms(published, { baseUrl: server.url, cacheFolder: folder, onProgress })
    } finally {
      await server.close()
    }
  })
  afterAll(() => rm(folder, { recursive: true }))

  it('are used, with controllers that empty namespaces and collect dependents', { tags: ['nightly'] }, async () => {
    await using controlPlane = await startControlPlane({ assets })
    const run = async (...args: string[]) => expect(await controlPlane.kubectl(args)).toMatchObject({ code: 0 })
    expect(controlPlane.kubectlPath).toBe(join(assets, 'kubectl'))
    await run('create', 'namespace', 'short-lived')
    await run('create', 'configmap', 'owner', '--namespace', 'short-lived')
    const owner = await controlPlane.kubectl([
      'get',
      'cm',
      'owner',
      '-n',
      'short-lived',
      '-o',
      'jsonpath={.metadata.uid}',
    ])
    const dependent = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: {
        name: 'dependent',
        namespace: 'short-lived',
        ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: owner.stdout }],
      },
    }
    const applied = await controlPlane.kubectl(['apply', '-f', '-'], { stdin: JSON.stringify(dependent) })
    expect(applied).toMatchObject({ code: 0 })
    await run('delete', 'configmap', 'owner', '--namespace', 'short-lived')
    await run('wait', '--for=delete', 'configmap/dependent', '--namespace', 'short-lived', '--timeout=60s')
    await run('delete', 'namespace', 'short-lived', '--timeout=60s')
  })

  it('end with their owner, however that ends', { tags: ['nightly'] }, async () => {
    const { owner, owned, exit } = await startOwner('wait', { KUBEBUILDER_ASSETS: assets })
    expect(await runningOf(owned.pids)).toHaveLength(4)
    owner.kill('SIGKILL')
    await exit
    await expectNothingLeft(owned.kubeconfigPath, owned.pids)
  })

  it('are refused if kube-apiserver or etcd is missing', async () => {
    await rm(join(assets, 'etcd'))
    await expect(startControlPlane({ assets })).rejects.toMatchObject({ code: 'ASSETS_INCOMPLETE' })
  })
})

describe('the controlplane command', () => {
  async function kubeconfigPrinted(stdout: Readable): Promise<string> {
    let printed = ''
    for await (const line of createInterface(stdout)) {
      printed += `${line}\n`
      if (line.startsWith('Ctrl-C')) break
    }
    return /^ {2}export KUBECONFIG=(.+)$/m.exec(printed)?.[1] ?? ''
  }

  it('prints how to use it, stays up, and cleans up on SIGTERM', async () => {
    const command = spawnNode(MAIN)
    const exit = once(command, 'exit')
    const kubeconfig = await kubeconfigPrinted(command.stdout)
    expect(existsSync(kubeconfig)).toBe(true)
    command.kill('SIGTERM')
    expect(await exit).toEqual([0, null])
    expect(existsSync(dirname(kubeconfig))).toBe(false)
  })

  it('cleans up when the shell that started it is killed', { tags: 'nightly' }, async () => {
    const shell = spawn('sh', ['-c', `"${process.execPath}" "${MAIN}"; :`], { stdio: ['ignore', 'pipe', 'ignore'] })
    const kubeconfig = await kubeconfigPrinted(shell.stdout)
    expect(existsSync(kubeconfig)).toBe(true)
    shell.kill('SIGKILL')
    await vi.waitFor(() => expect(existsSync(dirname(kubeconfig))).toBe(false), PATIENCE)
  })
})

describe('an existing cluster', () => {
  it('is used by its kubeconfig, and neither restarted nor stopped', async () => {
    const cluster = await startControlPlane({ kubeconfig: inject('kubeconfigPath') })
    await expect(cluster.killApiserver()).rejects.toMatchObject({ code: 'NOT_OWNED' })
    await expect(cluster.restartApiserver()).rejects.toMatchObject({ code: 'NOT_OWNED' })
    await expect(cluster.copyData('anywhere')).rejects.toMatchObject({ code: 'NOT_OWNED' })
    await cluster.stop()
    expect(await cluster.kubectl(['get', 'namespace', 'default', '-o', 'name'])).toMatchObject({
      code: 0,
      stdout: 'namespace/default\n',
    })
  })
})
