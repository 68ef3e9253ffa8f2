import { describe, expect, test } from 'vitest'
import { configMapType } from '../../../../src/kube/core-types.ts'
import type { DataObject } from '../../../../src/managed/outputs/place.ts'
import { equalJSON } from '../../../../src/util/json.ts'
import { begin, isReady, objectsIn, ready, type Scene, until } from '../../simulation/scenario.ts'
import type { SimulatedWorld } from '../../simulation/world.ts'

const KIND = 'SSHCertificateAuthority'

describe('derived outputs', () => {
  const place = { namespace: 'shop', name: 'public' }
  const read = (world: SimulatedWorld) => world.kube.get<DataObject>(configMapType, place)
  async function signer(): Promise<Scene> {
    const scene = await begin([KIND])
    scene.world.apply(KIND, 'signer', { output: { configMap: { name: 'public' } } })
    await ready(scene.world, KIND, 'signer')
    return scene
  }

  test('are written once, repaired when altered or deleted, and cost nothing at rest', async () => {
    const { world, writes } = await signer()
    const first = read(world)
    const [authority] = await objectsIn(world, 'ssh_certificate_authorities')
    expect(first?.data?.['ca.pub']).toBe(`${authority?.public_key}\n`)
    expect(first?.metadata.ownerReferences?.[0]).toMatchObject({ name: 'signer', controller: true })
    world.kube.mergePatch(configMapType, place, { data: { 'ca.pub': 'altered', mine: 'kept' } })
    await until(world, 'repaired', () => read(world)?.data?.['ca.pub'] === first?.data?.['ca.pub'])
    expect(read(world)?.data?.mine).toBe('kept')
    world.kube.delete(configMapType, place)
    await until(world, 'made again', () => read(world)?.data?.['ca.pub'] === first?.data?.['ca.pub'])
    await world.advance(1000)
    const { length } = writes
    await world.advance(180_000)
    expect(writes.slice(length)).toEqual([])
  })

  test('are taken away when the spec asks for them no more, but for what others put there', async () => {
    const { world } = await signer()
    world.kube.mergePatch(configMapType, place, { data: { mine: 'kept' } })
    world.apply(KIND, 'signer', { output: { configMap: { name: 'elsewhere' } } })
    await until(world, 'moved', () => world.get(KIND, 'signer')?.status?.output?.name === 'elsewhere')
    expect(read(world)?.data).toEqual({ mine: 'kept' })
    world.apply(KIND, 'signer', {})
    await until(world, 'gone', () => {
      return (
        world.kube.get(configMapType, { ...place, name: 'elsewhere' }) === undefined && isReady(world, KIND, 'signer')
      )
    })
    expect(world.get(KIND, 'signer')?.status?.output).toBeUndefined()
  })

  test('carry the labels and annotations of the spec, one write for each change and none of what others set', async () => {
    const { world, writes } = await signer()
    const apply = (labels: Readonly<Record<string, string>>, annotations: Readonly<Record<string, string>> = {}) =>
      world.apply(KIND, 'signer', {
        output: { configMap: { name: 'public', labels, annotations } },
      })
    const bears = (labels: Readonly<Record<string, string>>) => () => {
      const { 'app.kubernetes.io/managed-by': _, ...others } = read(world)?.metadata.labels ?? {}
      return equalJSON(others, labels) && isReady(world, KIND, 'signer')
    }
    apply({ team: 'edge' }, { 'example.com/sync': 'true' })
    await until(world, 'labelled', bears({ team: 'edge' }))
    expect(read(world)?.metadata.annotations?.['example.com/sync']).toBe('true')
    world.kube.mergePatch(configMapType, place, { metadata: { labels: { theirs: 'x', team: 'altered' } } })
    await until(world, 'repaired', bears({ team: 'edge', theirs: 'x' }))
    apply({ tier: 'public' })
    await until(world, 'changed', bears({ theirs: 'x', tier: 'public' }))
    expect(read(world)?.metadata.annotations).not.toHaveProperty('example.com/sync')
    await world.advance(1000)
    const { length } = writes
    await world.advance(180_000)
    expect(writes.slice(length)).toEqual([])
    apply({})
    await until(world, 'bare', bears({ theirs: 'x' }))
    await world.advance(1000)
    expect(writes.slice(length).filter((write) => write.includes('configmaps'))).toHaveLength(1)
    expect(read(world)?.metadata.annotations).not.toHaveProperty('internal.culvert.dev/output-labels')
  })

  test('never go into what belongs to somebody else', async () => {
    const { world } = await begin([KIND])
    world.kube.create(configMapType, place, { data: { 'ca.pub': 'of another' } })
    world.apply(KIND, 'signer', { output: { configMap: { name: 'public' } } })
    await until(world, 'refused', () => {
      const conditions = world.get(KIND, 'signer')?.status?.conditions ?? []
      return conditions.some(({ reason }) => reason === 'OutputNotOwned')
    })
    expect(read(world)?.data).toEqual({ 'ca.pub': 'of another' })
  })
})
