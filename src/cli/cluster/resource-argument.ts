import { canBeNamed } from '../../kube/request.ts'
import type { Descriptor } from '../../managed/descriptor/descriptor.ts'
import { CommandError } from './command-error.ts'
import { mostSimilar } from './similar.ts'

/** A resource as a person named it on the command line. */
export interface ResourceArgument {
  readonly descriptor: Descriptor
  /** Undefined for a kind that has no namespace. */
  readonly namespace: string | undefined
  readonly name: string
}

/** How to look up what an argument names. */
export interface ResourceScope {
  readonly kinds: readonly Descriptor[]
  /** The namespace of namespaced kinds. */
  readonly namespace: string
}

/**
 * Reads the arguments `KIND/NAME …` or `KIND NAME`, as kubectl does. A kind is written as its kind, plural, singular or
 * short name, in any case, and may be followed by its group.
 *
 * @throws CommandError `BadArgument` naming the argument and what would be right
 */
export function parseResources(args: readonly string[], scope: ResourceScope): readonly ResourceArgument[] {
  const [kind = '', name] = args
  if (args.length === 2 && name !== undefined && !args.some((each) => each.includes('/'))) {
    return [resourceOf(kind, name, scope)]
  }
  return args.map((arg) => {
    const at = arg.indexOf('/')
    if (at < 0) {
      const example = `${findKind(arg, scope.kinds)?.definition.singular ?? 'edge'}/NAME`
      throw new CommandError(
        'BadArgument',
        `${JSON.stringify(arg)} is not a resource: use the form KIND/NAME, such as ${example}`,
      )
    }
    return resourceOf(arg.slice(0, at), arg.slice(at + 1), scope)
  })
}

/** Like `parseResources`, for a command about one resource. */
export function parseResource(args: readonly string[], scope: ResourceScope): ResourceArgument {
  const [resource, another] = parseResources(args, scope)
  if (resource === undefined || another !== undefined) {
    throw new CommandError('BadArgument', `${args.join(' ')}: specify one resource as KIND/NAME`)
  }
  return resource
}

function resourceOf(kind: string, name: string, { kinds, namespace }: ResourceScope): ResourceArgument {
  const descriptor = kindNamed(kind, kinds)
  if (name === '' || !canBeNamed({ name })) {
    throw new CommandError('BadArgument', `${JSON.stringify(`${kind}/${name}`)}: no resource can have this name`)
  }
  return { descriptor, name, namespace: descriptor.definition.scope === 'Namespaced' ? namespace : undefined }
}

/** The kind that a person wrote. @throws CommandError `BadArgument` with the most similar kind, or with all kinds */
export function kindNamed(text: string, kinds: readonly Descriptor[]): Descriptor {
  const found = findKind(text, kinds)
  if (found !== undefined) return found
  const known = kinds.map(({ definition }) => definition.kind).sort()
  const similar = mostSimilar(
    text,
    kinds.flatMap(({ definition: { singular, plural } }) => [singular, plural]),
  )
  const remedy = similar === undefined ? `it is one of ${known.join(', ')}` : `did you mean ${similar}?`
  throw new CommandError('BadArgument', `there is no kind ${JSON.stringify(text)}: ${remedy}`)
}

/** The kind that a person wrote: `Edge`, `edges`, `edges.culvert.dev` or a short name. */
export function findKind(text: string, kinds: readonly Descriptor[]): Descriptor | undefined {
  const written = text.toLowerCase()
  return kinds.find(({ definition: { group, kind, plural, singular, shortNames, version } }) => {
    const names = [kind.toLowerCase(), plural, singular, ...shortNames]
    return names.some((each) => [each, `${each}.${group}`, `${each}.${version}.${group}`].includes(written))
  })
}

/** `Edge/shop in namespace web`. */
export function argumentText({ descriptor, name, namespace }: ResourceArgument): string {
  const short = `${descriptor.definition.kind}/${name}`
  return namespace === undefined ? short : `${short} in namespace ${namespace}`
}

/** `edges.culvert.dev`, as kubectl's arguments name a kind: other projects have kinds of the same plural. */
export function fullPlural({ definition: { plural, group } }: Descriptor): string {
  return `${plural}.${group}`
}

/** `-n web edge/shop`: the arguments by which a command of `culvert` names a resource. */
export function argumentsFor({ descriptor, name, namespace }: ResourceArgument): string {
  const short = `${descriptor.definition.singular}/${name}`
  return namespace === undefined ? short : `-n ${namespace} ${short}`
}
