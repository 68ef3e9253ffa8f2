import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import type { Finding } from './lint.ts'

/** A file of the project that determines the content of releases. */
export interface SourceFile {
  /** From the project's root. */
  readonly path: string
  readonly text: string
}

const WORKFLOWS = join('.github', 'workflows')
const DOCKERFILE = 'Dockerfile'

/** Others can change what a tag or a branch names, but not a commit or a digest. */
export async function supplyChainFindings(root: string): Promise<readonly Finding[]> {
  const read = async (path: string): Promise<SourceFile> => ({ path, text: await readFile(join(root, path), 'utf8') })
  const names = (await readdir(join(root, WORKFLOWS))).toSorted()
  const workflows = await Promise.all(names.map((name) => read(join(WORKFLOWS, name))))
  return findingsIn(workflows, await read(DOCKERFILE))
}

/** Unpinned references in these workflows and in what they build. */
export function findingsIn(workflows: readonly SourceFile[], dockerfile: SourceFile): readonly Finding[] {
  const bases = basesOf(dockerfile.text)
  const unpinned = bases.flatMap(({ image, argument }) => {
    return argument === undefined && !DIGEST.test(image)
      ? [{ place: dockerfile.path, problem: `FROM ${image}: name it by digest, or by an argument` }]
      : []
  })
  const needed = bases.flatMap(({ argument }) => argument ?? [])
  return [...unpinned, ...workflows.flatMap((workflow) => findingsOfWorkflow(workflow, new Set(needed)))]
}

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, unknown>>
}

type Container = string | { readonly image?: string }

interface Job {
  readonly uses?: string
  readonly steps?: readonly Step[]
  readonly container?: Container
  readonly services?: Readonly<Record<string, Container>>
}

function findingsOfWorkflow({ path, text }: SourceFile, bases: ReadonlySet<string>): readonly Finding[] {
  const { jobs = {} } = parse(text) as { readonly jobs?: Readonly<Record<string, Job>> }
  return Object.entries(jobs).flatMap(([name, job]) => {
    const place = `${path}: ${name}`
    const steps = job.steps ?? []
    const problems = [
      ...[job.uses, ...steps.map(({ uses }) => uses)].flatMap((uses) => unpinnedAction(uses, text)),
      ...[job.container, ...Object.values(job.services ?? {})].flatMap(unpinnedContainer),
      ...steps.flatMap((step) => unpinnedBases(step, bases, jobs)),
      ...steps.flatMap(({ run = '' }) => {
        const isPinned = run.includes('.image.digest = ')
        return !run.includes('helm package') || isPinned
          ? []
          : ['the chart is packaged without the digest of its image']
      }),
    ]
    return problems.map((problem) => ({ place, problem }))
  })
}

/** The version after the commit is for people, and for the tool that proposes updates. */
function unpinnedAction(uses: string | undefined, text: string): readonly string[] {
  if (uses === undefined || uses.startsWith('./')) return []
  if (uses.startsWith('docker://') ? !DIGEST.test(uses) : !/^[\w.-]+\/[\w./-]+@[0-9a-f]{40}$/.test(uses)) {
    return [`${uses}: name its commit in full, or the image's digest`]
  }
  return text.split('\n').some((line) => line.includes(uses) && !/ # v\d/.test(line))
    ? [`${uses}: say in a comment which version that is`]
    : []
}

function unpinnedContainer(container: Container | undefined): readonly string[] {
  const image = typeof container === 'string' ? container : container?.image
  return image === undefined || DIGEST.test(image) ? [] : [`the container ${image} is not named by digest`]
}

/** A build passes every base by digest: directly, or as found and checked by another job. */
function unpinnedBases(step: Step, bases: ReadonlySet<string>, jobs: Readonly<Record<string, Job>>): readonly string[] {
  if (!step.uses?.startsWith('docker/build-push-action@')) return []
  const given = String(step.with?.['build-args'] ?? '').split('\n')
  return [...bases].flatMap((argument) => {
    const value = given.find((line) => line.trim().startsWith(`${argument}=`))?.trim()
    const source = /\$\{\{ *needs\.([\w-]+)\.outputs\.[\w-]+ *\}\}$/.exec(value ?? '')?.[1]
    const isChecked = jobs[source ?? '']?.steps?.some(({ run = '' }) => run.includes('sha256:[0-9a-f]{64}')) ?? false
    return isChecked || DIGEST.test(value ?? '')
      ? []
      : [`the image is built without the digest of its base ${argument}`]
  })
}

interface Base {
  readonly image: string
  /** The build argument that names it, if any. */
  readonly argument: string | undefined
}

/** The base images of a Dockerfile's stages, except other stages. */
function basesOf(text: string): readonly Base[] {
  const stages = [...text.matchAll(/^FROM\s+(?:--\S+\s+)*(\S+)(?:\s+AS\s+(\S+))?/gim)]
  const names = new Set(stages.map(([, , name]) => name))
  return stages
    .map(([, image = '']) => ({ image, argument: /^\$\{(\w+)\}$/.exec(image)?.[1] }))
    .filter(({ image }) => !names.has(image) && image !== 'scratch')
}

const DIGEST = /@sha256:[0-9a-f]{64}$/
