import { instance } from '@viz-js/viz'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { addressesOf, type StatedResource } from '../../../../src/cli/cluster/resource-state.ts'
import { type Drawing, dotOf, drawingOf, type Look, mermaidOf } from '../../../../src/cli/graph/drawing.ts'
import { branchesOf, branchesTo, graphOf, rootsOf } from '../../../../src/cli/tree/resource-graph.ts'
import { kinds as descriptors } from '../../../../src/kinds/index.ts'
import { KindsRegistry } from '../../../../src/managed/kinds-registry.ts'

const kinds = new KindsRegistry(descriptors)
const order = descriptors.map(({ definition }) => definition.kind)

function resource(kind: string, name: string, spec: object, message?: string): StatedResource {
  const time = { lastTransitionTime: '2026-11-24T10:00:00Z' }
  const conditions =
    message === undefined
      ? [{ type: 'Ready', status: 'True' as const, reason: 'Available', message: 'in place', ...time }]
      : [{ type: 'Stalled', status: 'True' as const, reason: 'Rejected', message, ...time }]
  const metadata = { namespace: 'web', name, uid: name, resourceVersion: '1' }
  return { apiVersion: 'culvert.dev/v1alpha1', kind, metadata, spec, status: { conditions } }
}

const edge = (name: string) => resource('Edge', name, { protocol: 'TLS', backend: { name: 'web' } })
const refused = resource('Backend', 'web', { type: 'TunnelGroup', tunnelGroup: { labels: {} } }, 'a "quoted"\nanswer')

function drawing(
  resources: readonly StatedResource[],
  direction: 'needs' | 'usedBy' = 'needs',
  root?: string,
): Drawing {
  const graph = graphOf(kinds, resources)
  const roots =
    root === undefined ? rootsOf(graph, order) : [...graph.nodes.values()].filter(({ name }) => name === root)
  return drawingOf(branchesOf(graph, roots, direction), direction, 'web', ({ resource }) => {
    return resource === undefined ? [] : addressesOf(kinds, resource)
  })
}

function withStatus({ status, ...rest }: StatedResource, further: object): StatedResource {
  return { ...rest, status: { ...status, ...further } }
}

/** Labels with whatever a server may answer, in drawings of two boxes and the arrow between. */
const drawings = fc
  .tuple(
    fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }), { minLength: 1, maxLength: 3 }),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }),
    fc.constantFrom<Look>('well', 'waiting', 'failed', 'unmanaged'),
  )
  .map(([lines, label, look]): Drawing => {
    const boxes = ['n1', 'n2'].map((id) => ({ id, lines, look }))
    return { boxes, arrows: [{ from: 'n1', to: 'n2', label }] }
  })

describe('a drawing', () => {
  test('has one box for each resource and one arrow for each reference', () => {
    const { boxes, arrows } = drawing([edge('one'), edge('two'), refused])
    expect(boxes.map(({ lines, look }) => [look, ...lines])).toEqual([
      ['well', 'Edge/one', 'Ready'],
      ['failed', 'Backend/web', 'Stalled', 'Rejected: a "quoted" answer'],
      ['well', 'Edge/two', 'Ready'],
    ])
    expect(arrows).toEqual([
      { from: 'n1', to: 'n2', label: 'backend' },
      { from: 'n3', to: 'n2', label: 'backend' },
    ])
  })

  test('of what uses a resource has the same arrows', () => {
    const { boxes, arrows } = drawing([edge('one'), refused], 'usedBy', 'web')
    expect(boxes.map(({ lines: [name] }) => name)).toEqual(['Backend/web', 'Edge/one'])
    expect(arrows).toEqual([{ from: 'n2', to: 'n1', label: 'backend' }])
  })

  test('is drawn by Graphviz, whatever its labels contain, and says them', async () => {
    const graphviz = await instance()
    fc.assert(
      fc.property(drawings, (each) => {
        const svg = graphviz.renderString(dotOf(each), { format: 'svg', engine: 'dot' })
        const [box = { lines: [] }] = each.boxes
        const [arrow = { label: '' }] = each.arrows
        const said = [...box.lines, ...box.lines, arrow.label].map(plain).filter((line) => line !== '')
        expect(textsOf(svg)).toHaveLength(said.length)
        expect(textsOf(svg)).toEqual(expect.arrayContaining(said))
      }),
      { numRuns: 60 },
    )
  })

  test('has weights, the order of a failover, and the addresses of an edge on its arrows', () => {
    const weighted = {
      backendRefs: [
        { name: 'blue', weight: 30 },
        { name: 'green', weight: 10 },
      ],
    }
    const failover = { backendRefs: [{ name: 'split' }, { name: 'spare' }] }
    const shop = resource('Edge', 'shop', { protocol: 'TLS', backend: { name: 'web' } })
    const { arrows, boxes } = drawing([
      withStatus(shop, { hostports: ['shop.example.com:443', 'www.example.com:443'] }),
      resource('Backend', 'web', { type: 'Failover', failover }),
      resource('Backend', 'split', { type: 'Weighted', weighted }),
    ])
    const nameOf = (id: string) => boxes.find((box) => box.id === id)?.lines[0]
    const drawn = arrows.map(({ from, to, label }) => [nameOf(from), nameOf(to), label])
    const meant = [
      ['Edge/shop', 'Backend/web', 'backend'],
      ['Backend/web', 'Backend/split', 'failover: choice 1'],
      ['Backend/split', 'Backend/blue', 'weighted: weight 30, 75 %'],
      ['Backend/split', 'Backend/green', 'weighted: weight 10, 25 %'],
      ['Backend/web', 'Backend/spare', 'failover: choice 2'],
      ['Clients', 'Edge/shop', 'shop.example.com:443, www.example.com:443'],
    ]
    expect(new Set(drawn)).toEqual(new Set(meant))
  })

  test('does not show a group without tunnels as well', () => {
    const time = { lastTransitionTime: '2026-11-24T10:00:00Z' }
    const web = resource('Backend', 'web', { type: 'TunnelGroup', tunnelGroup: { labels: {} } })
    const none = { type: 'TunnelsOnline', status: 'False', reason: 'NoTunnels', message: 'none is online', ...time }
    const { boxes } = drawing([withStatus(web, { conditions: [...(web.status?.conditions ?? []), none] })])
    expect(boxes).toMatchObject([{ look: 'waiting' }])
  })

  test('of what is unhealthy has that and what leads to it', () => {
    const fine = resource('Edge', 'fine', { protocol: 'TLS', backend: { name: 'good' } })
    const good = resource('Backend', 'good', { type: 'HTTPResponse', httpResponse: {} })
    const graph = graphOf(kinds, [fine, good, edge('one'), edge('two'), refused])
    const trees = branchesTo(branchesOf(graph, rootsOf(graph, order), 'needs'), ({ name }) => name === 'web')
    const { boxes, arrows } = drawingOf(trees, 'needs', 'web', () => [])
    expect(boxes.map(({ lines: [name] }) => name)).toEqual(['Edge/one', 'Backend/web', 'Edge/two'])
    expect(arrows).toHaveLength(2)
  })

  test('in Mermaid has labels of characters without a meaning, which stand for the text', () => {
    fc.assert(
      fc.property(drawings, (each) => {
        const [first = '', ...rest] = mermaidOf(each).split('\n')
        expect(first).toBe('flowchart LR')
        const [box = { lines: [] }] = each.boxes
        const [arrow = { label: '' }] = each.arrows
        const labels = rest.flatMap((line) => /"(.*)"/.exec(line)?.[1] ?? [])
        for (const label of labels) expect(label.replaceAll('<br/>', '')).toMatch(/^[\p{L}\p{N} ./:,()#;-]*$/u)
        const decoded = labels.map((label) => label.split('<br/>').map(decodedMermaid))
        expect(decoded).toEqual([box.lines, box.lines, [arrow.label]])
      }),
    )
  })
})

function decodedMermaid(text: string): string {
  return text.replaceAll(/#(\d+);/g, (_, code: string) => String.fromCodePoint(Number(code)))
}

/** What an image says, text by text. */
function textsOf(svg: string): readonly string[] {
  const texts = [...svg.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, text = '']) => plain(decodedXML(text)))
  return texts.filter((text) => text !== '')
}

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' }

function decodedXML(text: string): string {
  return text.replaceAll(/&(?:#(\d+)|(\w+));/g, (whole, code: string | undefined, name: string) => {
    return code === undefined ? (NAMED[name] ?? whole) : String.fromCodePoint(Number(code))
  })
}

/** Graphviz may write a space as one that does not break. */
function plain(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim()
}
