import { describe, expect, test } from 'vitest'
import type { TunnelSpec } from '../../../../src/managed/descriptor/tunnel.ts'
import { allowsImage, refuseUnpermitted } from '../../../../src/managed/tunnels/policy.ts'

const SPEC: TunnelSpec = { backendRef: { name: 'shop' }, service: { name: 'shop', port: 80 } }
const POLICY = { image: 'culvert:1', gateways: [], templates: true, images: ['registry.example.com/agents/*'] }
const SIDE = { spec: { containers: [{ name: 'side', image: 'side:1' }] } }
const PLACED = { spec: { priorityClassName: 'high' } }

test.each<[string, readonly string[], boolean]>([
  ['a/b:1', ['a/b:1'], true],
  ['a/b:2', ['a/b:1'], false],
  ['a/b:2', ['a/b:*'], true],
  ['a/b/c@sha256:1', ['a/*'], true],
  ['a.evil/b', ['a/*'], false],
  ['a/b', [], false],
])('the image %s under the patterns %j: %s', (image, patterns, expected) => {
  expect(allowsImage(image, patterns)).toBe(expected)
})

describe('what a Tunnel asks for', () => {
  test.each<[string, Partial<TunnelSpec>]>([
    ['a plain one', {}],
    ['where agents run', { template: PLACED }],
    [
      'a container by the image of Culvert',
      { template: { spec: { containers: [{ name: 'a', image: 'culvert:1' }] } } },
    ],
    ['an agent by an image of the list', { agent: { image: 'registry.example.com/agents/one:2' } }],
  ])('is permitted: %s', (_what, more) => {
    expect(() => refuseUnpermitted({ ...SPEC, ...more }, POLICY)).not.toThrow()
  })

  test.each<[string, Partial<TunnelSpec>, object, string, RegExp]>([
    [
      'a template where none is taken',
      { template: PLACED },
      { templates: false },
      'TemplatesDisabled',
      /^spec.template: /,
    ],
    [
      'an agent where none is taken',
      { agent: { image: 'x:1' } },
      { templates: false },
      'TemplatesDisabled',
      /^spec.agent: /,
    ],
    [
      'an agent by another image',
      { agent: { image: 'x:1' } },
      {},
      'ImageNotAllowed',
      /^spec.agent.image: "x:1" .*tunnels.templates.images/,
    ],
    ['a container by another image', { template: SIDE }, {}, 'ImageNotAllowed', /containers\[side\].image: "side:1"/],
  ])('is refused: %s', (_what, more, policy, code, message) => {
    const refused = () => refuseUnpermitted({ ...SPEC, ...more }, { ...POLICY, ...policy })
    expect(refused).toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }))
  })
})
