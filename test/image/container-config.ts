import type { ImageConfig } from './build-image.ts'

/** A file of this machine that a container sees, read-only. */
export interface FileMount {
  readonly source: string
  readonly target: string
}

export interface ContainerConfigOptions {
  readonly image: ImageConfig
  readonly rootfs: string
  /** Come after the image's entry point. */
  readonly args: readonly string[]
  readonly files: readonly FileMount[]
}

/**
 * The OCI runtime's configuration of a container: process, environment and user as the image has them, and no more
 * rights than `restricted` of Kubernetes' pod security leaves: read-only, no capability, no new privileges. Nothing at
 * all is writable but /dev/shm. It shares this machine's network.
 */
export function containerConfig({ image, rootfs, args, files }: ContainerConfigOptions): unknown {
  const [uid = 0, gid = 0] = (image.User ?? '').split(':').map(Number)
  const none = { bounding: [], effective: [], inheritable: [], permitted: [], ambient: [] }
  return {
    ociVersion: '1.0.2',
    process: {
      user: { uid, gid },
      args: [...(image.Entrypoint ?? []), ...args],
      env: image.Env ?? [],
      cwd: image.WorkingDir || '/',
      capabilities: none,
      noNewPrivileges: true,
    },
    root: { path: rootfs, readonly: true },
    mounts: [...systemMounts, ...files.map(bind)],
    linux: {
      namespaces: ['pid', 'ipc', 'uts', 'mount'].map((type) => ({ type })),
      maskedPaths: ['/proc/kcore', '/proc/keys', '/proc/timer_list', '/sys/firmware'],
      readonlyPaths: ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger'],
    },
  }
}

const systemMounts = [
  { destination: '/proc', type: 'proc', source: 'proc' },
  {
    destination: '/dev',
    type: 'tmpfs',
    source: 'tmpfs',
    options: ['nosuid', 'strictatime', 'mode=755', 'size=65536k'],
  },
  { destination: '/dev/shm', type: 'tmpfs', source: 'shm', options: ['nosuid', 'noexec', 'nodev', 'size=65536k'] },
]

function bind({ source, target }: FileMount): unknown {
  return { destination: target, type: 'bind', source, options: ['bind', 'ro', 'nosuid', 'nodev', 'noexec'] }
}
