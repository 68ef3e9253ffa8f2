import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { CommandError } from '../../../../src/cli/cluster/command-error.ts'
import {
  argumentsFor,
  argumentText,
  parseResource,
  parseResources,
  type ResourceScope,
} from '../../../../src/cli/cluster/resource-argument.ts'
import { kinds } from '../../../../src/kinds/index.ts'

const scope: ResourceScope = { kinds, namespace: 'web' }

const descriptors = fc.constantFrom(...kinds)
const names = fc.stringMatching(/^[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?$/)

/** A resource as somebody may write it: any name of its kind, in any case, with or without the group. */
const written = fc
  .record({ descriptor: descriptors, name: names, upper: fc.boolean(), suffix: fc.constantFrom('', 'group', 'full') })
  .chain(({ descriptor, name, upper, suffix }) => {
    const { kind, plural, singular, shortNames, group, version } = descriptor.definition
    return fc.constantFrom(kind, plural, singular, ...shortNames).map((word) => {
      const full = { '': word, group: `${word}.${group}`, full: `${word}.${version}.${group}` }[suffix] ?? word
      return { descriptor, name, kind: upper ? full.toUpperCase() : full }
    })
  })

function refusalOf(args: readonly string[]): string {
  try {
    parseResource(args, scope)
  } catch (error) {
    if (error instanceof CommandError && error.code === 'BadArgument') return error.message
    throw error
  }
  throw new Error('nothing was refused')
}

describe('a resource on the command line', () => {
  test('is found by each name of its kind, as KIND/NAME and as KIND NAME', () => {
    fc.assert(
      fc.property(written, ({ descriptor, kind, name }) => {
        const namespace = descriptor.definition.scope === 'Namespaced' ? 'web' : undefined
        expect(parseResource([`${kind}/${name}`], scope)).toEqual({ descriptor, namespace, name })
        expect(parseResource([kind, name], scope)).toEqual({ descriptor, namespace, name })
      }),
    )
  })

  test('is read back from the arguments that messages name it by', () => {
    fc.assert(
      fc.property(descriptors, names, (descriptor, name) => {
        const resource = parseResource([`${descriptor.definition.kind}/${name}`], scope)
        const args = argumentsFor(resource).split(' ')
        expect(parseResource(args.slice(-1), scope)).toEqual(resource)
      }),
    )
  })

  test('names its namespace only if its kind has one', () => {
    expect(argumentText(parseResource(['edge/shop'], scope))).toBe('Edge/shop in namespace web')
    expect(argumentText(parseResource(['clusteraccount/main'], scope))).toBe('ClusterAccount/main')
  })

  test('may be one of several', () => {
    expect(parseResources(['edge/a', 'bkd/b', 'ippolicies/c'].slice(0, 1), scope)).toHaveLength(1)
    expect(parseResources(['edge/a', 'backend/b', 'ippolicies/c'], scope).map(({ name }) => name)).toEqual([
      'a',
      'b',
      'c',
    ])
  })

  test('of an unknown kind is refused with the kinds that there are', () => {
    expect(refusalOf(['ingress/shop'])).toMatch(/no kind "ingress".*ClusterAccount.*Edge/)
    expect(refusalOf(['edges.example.com/shop'])).toContain('no kind "edges.example.com"')
  })

  test('without a name, or with one that no object can have, is refused', () => {
    expect(refusalOf(['edge'])).toContain('use the form KIND/NAME, such as edge/NAME')
    expect(refusalOf(['edge/'])).toContain('no resource can have this name')
    expect(refusalOf(['edge/a/b'])).toContain('no resource can have this name')
    expect(refusalOf(['edge/..'])).toContain('no resource can have this name')
  })

  test('next to another is refused where a command is about one', () => {
    expect(refusalOf(['edge/a', 'edge/b'])).toContain('specify one resource')
  })
})
