import { expect, test } from 'vitest'
import { core, World } from '../../cluster/support/world.ts'
import { Release } from './support/release.ts'

/** What an operator may read, as `security.md` describes for a stolen token: an admission policy refuses no reads. */
const reads = [
  {
    what: 'all namespaces',
    isOfOne: false,
    values: {},
    tenant: ['get', 'list', 'watch'],
    elsewhere: ['get', 'list', 'watch'],
    home: ['get', 'list', 'watch'],
  },
  {
    what: 'all namespaces, without watching Secrets',
    isOfOne: false,
    values: { watchSecrets: false },
    tenant: ['get'],
    elsewhere: ['get'],
    home: ['get'],
  },
  {
    what: 'one namespace',
    isOfOne: true,
    values: {},
    tenant: ['get', 'list', 'watch'],
    elsewhere: [],
    home: ['get'],
  },
  {
    what: 'one namespace, without watching Secrets',
    isOfOne: true,
    values: { watchSecrets: false },
    tenant: ['get'],
    elsewhere: [],
    home: ['get'],
  },
] as const

test.each(reads)(
  'with the token of an operator of $what a thief reads Secrets there and in its own namespace only',
  async ({ isOfOne, values, tenant, elsewhere, home }) => {
    await using world = await World.open({ operator: false })
    const own = `${world.namespace}-home`
    const watchNamespaces = isOfOne ? [world.namespace] : []
    await using release = await Release.install(world, own, { ...values, watchNamespaces })
    const thief = release.holder
    const places = {
      [world.namespace]: tenant,
      [own]: home,
      'kube-system': elsewhere,
      default: elsewhere,
    }
    for (const [namespace, verbs] of Object.entries(places)) {
      const name = 'read-by-thief'
      const key = { namespace, name }
      await world.kube.apply(core('secrets', 'Secret'), key, { data: { token: 'dmFsdWU=' } })
      const path = `/api/v1/namespaces/${namespace}/secrets`
      const got = await thief.send('GET', `${path}/${name}`)
      const listed = await thief.send('GET', path)
      const may = await Promise.all(
        ['get', 'list', 'watch'].map(async (verb) => {
          return (await thief.may({ verb, group: '', resource: 'secrets', namespace, name })) ? [verb] : []
        }),
      )
      expect({ namespace, verbs: may.flat() }).toEqual({ namespace, verbs })
      expect({ namespace, get: got.status, list: listed.status }).toEqual({
        namespace,
        get: (verbs as readonly string[]).includes('get') ? 200 : 403,
        list: (verbs as readonly string[]).includes('list') ? 200 : 403,
      })
    }
    await Promise.all(
      ['kube-system', 'default'].map((namespace) =>
        world.kube.delete(core('secrets', 'Secret'), { namespace, name: 'read-by-thief' }),
      ),
    )
  },
)
