import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { KUBERNETES_VERSION } from '../../../controlplane/build.ts'
import { goRemedies } from '../../../controlplane/go-toolchain.ts'
import { downloadPrograms, publishedArchive } from '../../../controlplane/published-archive.ts'
import { runProgram } from '../../../controlplane/run-program.ts'
import { freePort } from '../../builders/free-port.ts'
import { startServer, type TestServer } from '../../builders/http-server.ts'
import { type TarMember, tarOf } from '../../builders/tar.ts'

const MAIN = join(import.meta.dirname, '..', '..', '..', 'controlplane', 'main.ts')
const INSIDE = 'controller-tools/envtest'
const PATH = '/envtest-v1.2.3/envtest-v1.2.3-linux-amd64.tar.gz'
const MEMBERS: readonly TarMember[] = ['kube-apiserver', 'etcd', 'kubectl'].map((name) => {
  return { name: `${INSIDE}/${name}`, content: `#!/bin/sh\necho ${name}\n` }
})
const PUBLISHED = gzipSync(tarOf(MEMBERS))

let parent: string
let cacheFolder: string
let progress: string[]
let server: TestServer
let respond: (response: ServerResponse) => void

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'culvert-test-'))
  cacheFolder = join(parent, 'cache')
  progress = []
  respond = (response) => response.end(PUBLISHED)
  server = await startServer((_request, response) => respond(response))
})
afterEach(async () => {
  await server.close()
  await rm(parent, { recursive: true })
})

function download(expected: Buffer = PUBLISHED, baseUrl: string = server.url): Promise<string> {
  const sha512 = createHash('sha512').update(expected).digest('hex')
  const options = { baseUrl, cacheFolder, onProgress: (line: string) => progress.push(line), patienceMilliseconds: 200 }
  return downloadPrograms({ version: '1.2.3', platform: 'linux-amd64', sha512 }, options)
}

/** Nothing of a failed download is kept, nor anything outside of its folder. */
async function expectRefused(downloading: Promise<string>, reason: RegExp): Promise<void> {
  await expect(downloading).rejects.toMatchObject({ code: 'DOWNLOAD_FAILED', message: expect.stringMatching(reason) })
  expect(await readdir(cacheFolder)).toEqual([])
  expect(await readdir(parent)).toEqual(['cache'])
}

describe('the published programs', () => {
  it('are downloaded once, and can be run', async () => {
    const folder = await download()
    expect((await readdir(folder)).sort()).toEqual(['etcd', 'kube-apiserver', 'kubectl'])
    expect(await runProgram(join(folder, 'etcd'), [])).toMatchObject({ code: 0, stdout: 'etcd\n' })
    expect(await download()).toBe(folder)
    expect(server.requests.map(({ path }) => path)).toEqual([PATH])
    expect(progress[0]).toBe(`Downloading Kubernetes 1.2.3 from ${server.url}${PATH}`)
  })

  it('are downloaded once by several processes at a time', async () => {
    const [first, second] = await Promise.all([download(), download()])
    expect(first).toBe(second)
    expect(server.requests).toHaveLength(1)
  })

  it('are found where the server redirects to', async () => {
    const store = await startServer((_request, response) => response.end(PUBLISHED))
    respond = (response) => response.writeHead(302, { location: `${store.url}/elsewhere` }).end()
    try {
      expect(await readFile(join(await download(), 'kubectl'), 'utf8')).toContain('echo kubectl')
    } finally {
      await store.close()
    }
  })
})

describe('a download fails, and leaves nothing behind,', () => {
  it('if nothing listens', async () => {
    await expectRefused(download(PUBLISHED, `http://127.0.0.1:${await freePort()}`), /ECONNREFUSED/)
  })

  it('if the base is not a URL', async () => {
    await expectRefused(download(PUBLISHED, 'mirror'), /^mirror\//)
  })

  it.each([403, 404, 503])('if the server answers %i', async (status) => {
    respond = (response) => response.writeHead(status).end('no')
    await expectRefused(download(), new RegExp(`${PATH}: HTTP ${status}$`))
  })

  it('if the checksum is another', async () => {
    respond = (response) => response.end(gzipSync(tarOf([...MEMBERS, { name: 'more', content: 'more' }])))
    await expectRefused(download(), /SHA-512/)
  })

  it('if the server closes the connection midway', async () => {
    respond = (response) => {
      response.writeHead(200, { 'content-length': PUBLISHED.length })
      response.write(PUBLISHED.subarray(0, 100), () => response.destroy())
    }
    await expectRefused(download(), new RegExp(PATH))
  })

  it('if the archive is shorter than published', async () => {
    respond = (response) => response.end(PUBLISHED.subarray(0, 100))
    await expectRefused(download(), /SHA-512/)
  })

  it('if the server does not answer', async () => {
    respond = () => {}
    await expectRefused(download(), /Timeout/i)
  })

  it('if the server stops sending', async () => {
    respond = (response) => {
      response.writeHead(200, { 'content-length': PUBLISHED.length })
      response.write(PUBLISHED.subarray(0, 100))
    }
    await expectRefused(download(), /Timeout/i)
  })

  it('if the archive is damaged', async () => {
    const damaged = PUBLISHED.subarray(0, 100)
    respond = (response) => response.end(damaged)
    await expectRefused(download(damaged), /: tar: /)
  })

  it('if the archive lacks a program', async () => {
    const incomplete = gzipSync(tarOf(MEMBERS.slice(1)))
    respond = (response) => response.end(incomplete)
    await expectRefused(download(incomplete), /kube-apiserver/)
  })

  it('if a program is a link', async () => {
    const linked = gzipSync(tarOf([...MEMBERS.slice(1), { name: `${INSIDE}/kube-apiserver`, linkTo: '/bin/sh' }]))
    respond = (response) => response.end(linked)
    await expectRefused(download(linked), /kube-apiserver is not a regular file/)
  })
})

it('unpacks only programs, wherever other members of an archive would go', async () => {
  const outside = ['../outside', `${INSIDE}/../../../outside`, join(parent, 'outside'), `${INSIDE}/other`]
  const archive = gzipSync(tarOf([...outside.map((name) => ({ name, content: 'outside' })), ...MEMBERS]))
  respond = (response) => response.end(archive)
  const folder = await download(archive)
  expect((await readdir(folder)).sort()).toEqual(['etcd', 'kube-apiserver', 'kubectl'])
  expect(await readdir(cacheFolder)).toHaveLength(1)
  expect(await readdir(parent)).toEqual(['cache'])
})

it('is published for the minor version that is built, for each common platform', () => {
  const minor = KUBERNETES_VERSION.split('.').slice(0, 2).join('.')
  const archives = ['linux', 'darwin'].flatMap((system) =>
    ['x64', 'arm64'].map((each) => publishedArchive(system, each)),
  )
  expect(archives.map((archive) => archive?.platform)).toEqual([
    'linux-amd64',
    'linux-arm64',
    'darwin-amd64',
    'darwin-arm64',
  ])
  for (const archive of archives) expect(archive?.version).toMatch(new RegExp(`^${minor}\\.`))
  expect(new Set(archives.map((archive) => archive?.sha512)).size).toBe(4)
  expect(publishedArchive('freebsd', 'x64')).toBeUndefined()
})

describe('the command', () => {
  async function start(url: string): Promise<string> {
    const env = { PATH: '/nonexistent', HOME: parent, XDG_CACHE_HOME: cacheFolder, CULVERT_ENVTEST_URL: url }
    const { code, stderr } = await runProgram(process.execPath, [MAIN], { env })
    expect(code).toBe(1)
    return stderr
  }

  it('says in one line why it does not use the published programs, and then builds its own', async () => {
    respond = (response) => response.writeHead(404).end()
    const [downloading, failed, ...rest] = (await start(`${server.url}/`)).trimEnd().split('\n')
    const url = server.url + server.requests[0]?.path
    expect(downloading).toMatch(new RegExp(`^Downloading Kubernetes .* from ${url}$`))
    expect(failed).toBe(`Not downloaded, so Kubernetes is compiled instead: ${url}: HTTP 404`)
    expect(rest.join('\n')).toContain(goRemedies())
  })

  it('downloads nothing with an empty URL', async () => {
    expect((await start('')).trimEnd()).toBe(`There is no Go on PATH.\n${goRemedies()}`)
  })
})
