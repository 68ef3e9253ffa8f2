import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type AclRule, aclRules, parseAclRule } from '../../../src/emulator/fields/acl.ts'
import { RequestError } from '../../../src/emulator/values/request-error.ts'

const word = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}[a-z0-9]$/)
const host = fc.array(word, { minLength: 2, maxLength: 4 }).map((labels) => labels.join('.'))
/** Any label text except one with a special meaning. */
const labelText = fc.string({ minLength: 1 }).filter((text) => text !== '*')
const labelKey = labelText.filter((text) => !text.includes('='))

/** A rule as text, and its meaning. */
const meant: fc.Arbitrary<readonly [string, AclRule]> = fc.oneof(
  fc
    .tuple(fc.boolean(), host)
    .map(([wildcard, name]) => (wildcard ? `*.${name}` : name))
    .map((name) => [`bind:${name}`, { kind: 'domain', name }] as const),
  fc
    .tuple(host, fc.integer({ min: 1, max: 65_535 }))
    .map(([name, port]) => [`bind:${name}:${port}`, { kind: 'address', host: name, port }] as const),
  fc
    .tuple(fc.option(labelKey, { nil: undefined }), fc.option(fc.oneof(labelText, fc.constant('')), { nil: undefined }))
    .map(([key, value]) => [`bind:${key ?? '*'}=${value ?? '*'}`, { kind: 'label', key, value }] as const),
)

describe('an ACL', () => {
  it('means what its rules were made from, and is kept to the letter', () => {
    fc.assert(
      fc.property(fc.array(meant, { maxLength: 5 }), (rules) => {
        const texts = rules.map(([text]) => text)
        expect(aclRules(texts, 'acl')).toEqual(texts)
        expect(texts.map(parseAclRule)).toEqual(rules.map(([, rule]) => rule))
      }),
    )
  })

  it('without the prefix of the one kind of rule is refused', () => {
    fc.assert(
      fc.property(meant, fc.string(), ([text], other) => {
        fc.pre(other !== '*' && !other.startsWith('bind:'))
        const target = text.slice('bind:'.length)
        for (const rule of [target, other, `Bind:${target}`]) {
          fc.pre(!rule.startsWith('bind:'))
          expect(parseAclRule(rule)).toBeTypeOf('string')
          expect(() => aclRules([rule], 'acl')).toThrow(RequestError)
        }
      }),
    )
  })

  it('never throws anything but a refusal that names field and rule', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.string().map((text) => `bind:${text}`),
        ),
        (rule) => {
          try {
            expect(aclRules([rule], 'acl')).toEqual([rule])
          } catch (error) {
            expect(error).toMatchObject({ code: 'invalidField', details: { field: 'acl[0]' } })
            expect(String(error)).toContain(JSON.stringify(rule))
          }
        },
      ),
    )
  })

  it('permits everything with the one rule *, which allows no other next to it', () => {
    expect(parseAclRule('*')).toEqual({ kind: 'all' })
    expect(aclRules(['*'], 'acl')).toEqual(['*'])
    fc.assert(
      fc.property(meant, ([text]) => {
        expect(() => aclRules(['*', text], 'acl')).toThrow(RequestError)
        expect(() => aclRules([text, '*'], 'acl')).toThrow(RequestError)
      }),
    )
  })
})
