import { glob, mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { systemErrorCode } from '../controlplane/errors.ts'

const ROOT = '/sys/fs/cgroup'
/** Its last processes may be gone before the kernel lets go of a cgroup. */
const REMOVAL_MS = 10_000

/** The cgroups that a node's Pods live in, below one name in every hierarchy of the machine. */
export class NodeCgroups implements AsyncDisposable {
  /** As a kubelet's `cgroupRoot` has it. */
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

  /** The most memory in bytes that a container has taken so far, by the kernel's account. */
  async peakMemory(containerId: string): Promise<number> {
    for (const file of ['memory.max_usage_in_bytes', 'memory.peak']) {
      for (const hierarchy of await hierarchies()) {
        for await (const path of glob(join(hierarchy, this.name, '**', containerId, file))) {
          return Number(await readFile(path, 'utf8'))
        }
      }
    }
    throw new Error(`there is no account of the memory of container ${containerId}`)
  }

  /** Removes them; nothing runs in them any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const hierarchy of await hierarchies()) await removeTree(join(hierarchy, this.name))
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

/** A new cpuset of version 1 has no CPUs, and what is made in it cannot get any. */
async function inheritCpus(hierarchy: string, folder: string): Promise<void> {
  for (const file of ['cpuset.cpus', 'cpuset.mems']) {
    const above = await readFile(join(hierarchy, file), 'utf8').catch(() => undefined)
    if (above !== undefined) await writeFile(join(folder, file), above)
  }
}

async function removeTree(folder: string): Promise<void> {
  const below = await readdir(folder, { withFileTypes: true }).catch(() => [])
  for (const entry of below) if (entry.isDirectory()) await removeTree(join(folder, entry.name))
  const deadline = performance.now() + REMOVAL_MS
  for (;;) {
    try {
      await rmdir(folder)
      return
    } catch (error) {
      const code = systemErrorCode(error)
      if (code === 'ENOENT') return
      if (code !== 'EBUSY' || performance.now() > deadline) throw error
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
}
