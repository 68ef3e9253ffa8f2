import { describe, expect, test } from 'vitest'
import type { TunnelSpec } from '../../../../src/managed/descriptor/tunnel.ts'
import { allows, refuseUnpermitted } from '../../../../src/managed/tunnels/policy.ts'

const SPEC: TunnelSpec = { backendRef: { name: 'shop' }, service: { name: 'shop', port: 80 } }
const POLICY = {
  image: 'culvert:1',
  gateways: [],
  templates: true,
  images: ['registry.example.com/agents/*'],
  metadataKeys: ['team', 'example.com/*', 'app.kubernetes.io/*', 'kubectl.kubernetes.io/*', '*'],
  priorityClasses: ['system-node-critical'],
}
const PLACED = { priorityClassName: 'high' }

test.each<[string, readonly string[] | undefined, boolean]>([
  ['a/b:1', ['a/b:1'], true],
  ['a/b:2', ['a/b:1'], false],
  ['a/b:2', ['a/b:*'], true],
  ['a/b/c@sha256:1', ['a/*'], true],
  ['a.evil/b', ['a/*'], false],
  ['a/b', [], false],
  ['a/b', undefined, false],
])('%s under the patterns %j: %s', (text, patterns, expected) => {
  expect(allows(patterns, text)).toBe(expected)
})

describe('what a Tunnel asks for', () => {
  test.each<[string, Partial<TunnelSpec>]>([
    ['a plain one', {}],
    ['a PriorityClass', { template: PLACED }],
    ['a PriorityClass of the system that is listed', { template: { priorityClassName: 'system-node-critical' } }],
    ['a listed label', { template: { labels: { team: 'shop' } } }],
    ['an annotation of a listed prefix', { template: { annotations: { 'example.com/scrape': 'yes' } } }],
    ['a toleration of a taint', { template: { tolerations: [{ key: 'edge' }] } }],
    ['an agent by an image of the list', { agent: { image: 'registry.example.com/agents/one:2' } }],
  ])('is permitted: %s', (_what, more) => {
    expect(() => refuseUnpermitted({ ...SPEC, ...more }, POLICY)).not.toThrow()
  })

  const other = { metadataKeys: ['example.com/*'] }
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
    ['an agent by the image of Culvert', { agent: { image: 'culvert:1' } }, {}, 'ImageNotAllowed', /"culvert:1"/],
    [
      'another label',
      { template: { labels: { team: 'shop' } } },
      other,
      'TemplateNotAllowed',
      /^spec.template.labels: "team" .*tunnels.templates.metadataKeys/,
    ],
    [
      'another annotation',
      { template: { annotations: { 'example.org/a': 'b' } } },
      other,
      'TemplateNotAllowed',
      /^spec.template.annotations: "example.org.a" /,
    ],
    ...['culvert.dev/tunnel', 'x.culvert.dev/a', 'app.kubernetes.io/name', 'kubectl.kubernetes.io/restartedAt'].map(
      (key): [string, Partial<TunnelSpec>, object, string, RegExp] => {
        return [
          `the key ${key}`,
          { template: { annotations: { [key]: '' } } },
          {},
          'TemplateNotAllowed',
          /annotations: /,
        ]
      },
    ),
    [
      'a PriorityClass of the system',
      { template: { priorityClassName: 'system-cluster-critical' } },
      {},
      'TemplateNotAllowed',
      /^spec.template.priorityClassName: "system-cluster-critical" .*tunnels.templates.priorityClasses/,
    ],
    [
      'a toleration of every taint, which the CRD refuses',
      { template: { tolerations: [{ key: '' }] } },
      {},
      'TemplateNotAllowed',
      /^spec.template.tolerations: /,
    ],
  ])('is refused: %s', (_what, more, policy, code, message) => {
    const refused = () => refuseUnpermitted({ ...SPEC, ...more }, { ...POLICY, ...policy })
    expect(refused).toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }))
  })
})
