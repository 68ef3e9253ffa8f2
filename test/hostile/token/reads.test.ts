import { expect, test } from 'vitest'
import { core, World } from '../../cluster/support/world.ts'
import { TokenHolder } from './support/token-holder.ts'

/** What an operator may read, as `security.md` describes for a stolen token: an admission policy refuses no reads. */
const reads = [
  {
    what: 'all namespaces',
    options: { watch: 'cluster' },
    tenant: ['get', 'list', 'watch'],
    elsewhere: ['get', 'list', 'watch'],
    home: ['get', 'list', 'watch'],
  },
  {
    what: 'all namespaces, without watching Secrets',
    options: { watch: 'cluster', flags: ['--no-watch-secrets'] },
    tenant: ['get'],
    elsewhere: ['get'],
    home: ['get'],
  },
  {
    what: 'one namespace',
    options: { watch: 'namespace' },
    tenant: ['get', 'list', 'watch'],
    elsewhere: [],
    home: ['get'],
  },
  {
    what: 'one namespace, without watching Secrets',
    options: { watch: 'namespace', flags: ['--no-watch-secrets'] },
    tenant: ['get'],
    elsewhere: [],
    home: ['get'],
  },
] as const

test.each(reads)(
  'with the token of an operator of $what a thief reads Secrets there and in its own namespace only',
  async ({ options, tenant, elsewhere, home }) => {
    await using world = await World.open({ ...options, operator: false })
    const [, kubeconfig = ''] = world.asOperator()
    using thief = await TokenHolder.of(kubeconfig)
    const places = {
      [world.namespace]: tenant,
      [world.operatorNamespace]: home,
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
