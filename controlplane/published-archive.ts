import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { lstat, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { EnvHttpProxyAgent, fetch } from 'undici'
import { formatDuration, type OnProgress } from './build-progress.ts'
import { buildOnce } from './cached-build.ts'
import { ControlPlaneError, systemErrorCode } from './errors.ts'
import { runProgram } from './run-program.ts'

/** An archive with kube-apiserver, etcd and kubectl, which controller-tools publishes for envtest. */
export interface PublishedArchive {
  /** Of Kubernetes. */
  readonly version: string
  /** Go's name of the system and the processor, such as `linux-amd64`. */
  readonly platform: string
  /** SHA-512 of the file in hexadecimal digits. */
  readonly sha512: string
}

/** The version nearest to `KUBERNETES_VERSION` that is published: not every patch release is. */
const PUBLISHED_VERSION = '1.36.2'

/** From https://github.com/kubernetes-sigs/controller-tools/blob/main/envtest-releases.yaml, by platform. */
const SHA512: ReadonlyMap<string, string> = new Map([
  [
    'darwin-amd64',
    'b4fe9f973cd1992e3880f8b230ed32c0c243b83371591e3e3315f4404df2cdbef8ee94eeb9bb245b7e5feb987d5c4a76c43e0877654ab73f00d7bbc2b9984514',
  ],
  [
    'darwin-arm64',
    '9278f9e5af556b2f1f2d139769c1f0d717c7b4426917fdebdba898bcb725a916e4910d6160886194ff9be9589ea7c5c32c2b8ae0754703874b7c8ba8ddfc41ce',
  ],
  [
    'linux-amd64',
    'ea743186c8a799f5cf8faf16969f86189d003cb7d130e0ac4b58789f1e5748dcf30ebe91c837a10d5ac415383da3e10b9e64d65785c938c23e739781cfb76f08',
  ],
  [
    'linux-arm64',
    '2d72ee985a8e262a3c57dc9f7f0fd891f6a8c7bf7ebaa2db6dc6d8eac8ae28181afe51c1f368b67756cdb40b10de9b205609e1726e5f27f7c6d824dd9c6649ac',
  ],
])

/** Where the archives are, unless `CULVERT_ENVTEST_URL` names a mirror. */
export const PUBLISHED_AT = 'https://github.com/kubernetes-sigs/controller-tools/releases/download'

/** The archive for a platform as Node names it (`linux`, `x64`), or undefined if none is published. */
export function publishedArchive(system: string, processor: string): PublishedArchive | undefined {
  const platform = `${system}-${processor === 'x64' ? 'amd64' : processor}`
  const sha512 = SHA512.get(platform)
  return sha512 === undefined ? undefined : { version: PUBLISHED_VERSION, platform, sha512 }
}

/** Where an archive comes from and where it goes. */
export interface DownloadOptions {
  /** Without a slash at its end; the archive is at `/envtest-vVERSION/envtest-vVERSION-PLATFORM.tar.gz` below it. */
  readonly baseUrl: string
  /** The programs are kept in a folder of this one. */
  readonly cacheFolder: string
  readonly onProgress: OnProgress
  /** How long the server may send nothing. Default 10 s. */
  readonly patienceMilliseconds?: number
}

const PATIENCE_MILLISECONDS = 10_000
/** Folder in the archive. */
const INSIDE = 'controller-tools/envtest'
const PROGRAMS = ['kube-apiserver', 'etcd', 'kubectl']

/**
 * Folder with the programs of an archive, which is downloaded first if this machine does not have it. Nothing of an
 * archive with another checksum is unpacked. Proxies are used as `HTTPS_PROXY` and `NO_PROXY` say.
 *
 * @throws ControlPlaneError `DOWNLOAD_FAILED`
 */
export async function downloadPrograms(archive: PublishedArchive, options: DownloadOptions): Promise<string> {
  const name = `envtest-v${archive.version}-${archive.platform}`
  const url = `${options.baseUrl}/envtest-v${archive.version}/${name}.tar.gz`
  const folder = join(options.cacheFolder, name)
  await buildOnce({
    folder,
    build: async (staging) => {
      const started = performance.now()
      options.onProgress(`Downloading Kubernetes ${archive.version} from ${url}`)
      const file = join(staging, `${name}.tar.gz`)
      try {
        await download(url, file, archive.sha512, options.patienceMilliseconds ?? PATIENCE_MILLISECONDS)
        await unpack(file, staging)
      } catch (error) {
        throw new ControlPlaneError('DOWNLOAD_FAILED', `${url}: ${reasonOf(error)}`, { cause: error })
      }
      await rm(file)
      options.onProgress(`Downloaded in ${formatDuration(performance.now() - started)}; kept in ${folder}`)
    },
    onWait: (holder) => options.onProgress(`Waiting for process ${holder}, which is downloading Kubernetes`),
  })
  return folder
}

async function download(url: string, file: string, sha512: string, patience: number): Promise<void> {
  const hash = createHash('sha512')
  const agent = new EnvHttpProxyAgent({
    connect: { timeout: patience },
    headersTimeout: patience,
    bodyTimeout: patience,
  })
  try {
    const response = await fetch(url, { dispatcher: agent })
    if (!response.ok || response.body === null) throw new Error(`HTTP ${response.status}`)
    const hashed = async function* (chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
      for await (const chunk of chunks) {
        hash.update(chunk)
        yield chunk
      }
    }
    await pipeline(response.body, hashed, createWriteStream(file))
  } finally {
    await agent.destroy()
  }
  if (hash.digest('hex') !== sha512) throw new Error('its SHA-512 is not that of the published archive')
}

/** What `fetch` hides in the causes of its errors. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.cause !== undefined) return reasonOf(error.cause)
  return error.message || (systemErrorCode(error) ?? error.name)
}

/** Unpacks the programs, and no other member, so that none can leave the folder. */
async function unpack(file: string, folder: string): Promise<void> {
  const members = PROGRAMS.map((name) => `${INSIDE}/${name}`)
  const how = ['-C', folder, '--strip-components=2', '--no-same-owner']
  const { code, stderr } = await runProgram('tar', ['-xzf', file, ...how, ...members])
  if (code !== 0) throw new Error(`tar: ${stderr.trim()}`)
  for (const name of PROGRAMS) {
    if (!(await lstat(join(folder, name))).isFile()) throw new Error(`${name} is not a regular file`)
  }
}
