import { readFile } from 'node:fs/promises'
import { nameFrom } from './resource-names.ts'

/** The format that Terraform and OpenTofu write. */
const VERSION = 4

/** An object that a state file covers. */
export interface TerraformObject {
  /** Its name there, as one that Kubernetes accepts; undefined if nothing of it can be in one. */
  readonly name: string | undefined
  /** `module.shop.ngrok_ip_policy.office["eu"]` */
  readonly address: string
}

/** The file is no state that can be read. The message says why, and what to give instead. */
export class StateFileError extends Error {
  override readonly name = 'StateFileError'
  readonly code = 'STATE_UNREADABLE'
}

/** The objects that a state file covers, by their ids at the API. */
export async function readTerraformState(path: string): Promise<ReadonlyMap<string, TerraformObject>> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    const why = error instanceof Error && 'code' in error ? String(error.code) : String(error)
    throw new StateFileError(`${path} cannot be read (${why}): correct the path`, { cause: error })
  }
  return parseTerraformState(text, path)
}

/** @param file for messages */
export function parseTerraformState(text: string, file: string): ReadonlyMap<string, TerraformObject> {
  const { version, resources } = fieldsOf(parsed(text, file))
  if (version !== VERSION || !Array.isArray(resources)) {
    const found = typeof version === 'number' ? `has version ${version}` : 'has no version'
    throw new StateFileError(
      `${file} ${found}: use a state of version ${VERSION}, as \`terraform state pull\` prints it`,
    )
  }
  const objects = new Map<string, TerraformObject>()
  for (const resource of resources.map(fieldsOf)) {
    if (resource.mode !== 'managed' || !Array.isArray(resource.instances)) continue
    for (const instance of resource.instances.map(fieldsOf)) {
      const { id } = fieldsOf(instance.attributes)
      if (typeof id === 'string' && id !== '') objects.set(id, objectOf(resource, instance))
    }
  }
  return objects
}

/** Nothing of the content is quoted: a state holds secrets. */
function parsed(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new StateFileError(`${file} is not JSON: use a state file, as \`terraform state pull\` prints it`)
  }
}

type Fields = Readonly<Record<string, unknown>>

function objectOf({ module, type, name }: Fields, { index_key: index }: Fields): TerraformObject {
  const isOne = index === undefined || index === null
  const place = [module, type, name].filter((part) => typeof part === 'string').join('.')
  return {
    name: nameFrom(isOne ? String(name) : `${String(name)}-${String(index)}`),
    address: isOne ? place : `${place}[${JSON.stringify(index)}]`,
  }
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}
