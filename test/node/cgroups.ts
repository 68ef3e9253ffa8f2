import { glob, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const ROOT = '/sys/fs/cgroup'

/** The cgroups of a node's Pods, below one name in every hierarchy of the machine. `Cleanup` removes them. */
export class NodeCgroups {
  /** In the form of a kubelet's `cgroupRoot`. */
  readonly name: string

  private constructor(name: string) {
    this.name = name
  }

  static async create(id: string): Promise<NodeCgroups> {
    for (const hierarchy of await hierarchies()) {
      const folder = join(hierarchy, id)
      await mkdir(folder)
      await inheritCpus(hierarchy, folder)
    }
    return new NodeCgroups(`/${id}`)
  }

  /** The first process of a container, by its PID on the machine. */
  async processOf(containerId: string): Promise<number> {
    const [pid = ''] = (await readFile(await this.#fileOf(containerId, ['cgroup.procs']), 'utf8')).split('\n')
    return Number(pid)
  }

  /** The most memory in bytes that a container was charged for so far, and the most that its process had resident. */
  async memoryOf(containerId: string): Promise<{ readonly peak: number; readonly resident: number }> {
    const charged = await this.#fileOf(containerId, ['memory.max_usage_in_bytes', 'memory.peak'])
    const status = await readFile(`/proc/${await this.processOf(containerId)}/status`, 'utf8')
    const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(status) ?? []
    return { peak: Number(await readFile(charged, 'utf8')), resident: Number(kibibytes) * 1024 }
  }

  /** One of these files of a container's cgroup; the cgroup versions name them differently. */
  async #fileOf(containerId: string, names: readonly string[]): Promise<string> {
    for (const hierarchy of await hierarchies()) {
      for (const name of names) {
        for await (const path of glob(join(hierarchy, this.name, '**', containerId, name))) return path
      }
    }
    throw new Error(`container ${containerId} has no ${names.join(' or ')}`)
  }
}

/** Folders of all cgroups of the machine. */
export async function cgroupsOfMachine(): Promise<readonly string[]> {
  const all: string[] = []
  for (const hierarchy of await hierarchies()) {
    for (const entry of await readdir(hierarchy, { recursive: true, withFileTypes: true }).catch(() => [])) {
      if (entry.isDirectory()) all.push(join(entry.parentPath, entry.name))
    }
  }
  return all
}

/** Version 2 has one hierarchy; version 1 has a folder for each. */
async function hierarchies(): Promise<readonly string[]> {
  const entries = await readdir(ROOT, { withFileTypes: true })
  if (entries.some(({ name }) => name === 'cgroup.controllers')) return [ROOT]
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(ROOT, name))
}

/** A new cpuset of version 1 has no CPUs, and its children cannot get any. */
async function inheritCpus(hierarchy: string, folder: string): Promise<void> {
  for (const file of ['cpuset.cpus', 'cpuset.mems']) {
    const above = await readFile(join(hierarchy, file), 'utf8').catch(() => undefined)
    if (above !== undefined) await writeFile(join(folder, file), above)
  }
}
