import { expect, test } from 'vitest'
import { collections } from '../../../../src/api/collections.ts'
import { ApiError } from '../../../../src/api/errors.ts'
import type { Collection } from '../../../../src/api/types.ts'
import { listAll, probe } from '../../../../src/managed/accounts/lists.ts'
import type { Holdings } from '../../../../src/managed/accounts/resync.ts'
import type { LiveSession } from '../../../../src/managed/accounts/session.ts'

const { botUsers, eventDestinations, ipPolicies, tcpEdges } = collections

const failure = (status: number) => new ApiError('Invalid', `answered ${status}`, { definite: true, status })

/** A session whose lists are answered with a status other than 200 where one is given. */
function sessionOf(statuses: Readonly<Record<string, number>>, closed: readonly Collection[] = []) {
  const asked: string[] = []
  const session = {
    beginResync: () => undefined,
    cache: {
      refusalOf: (collection: Collection) => closed.find((one) => one === collection),
      refresh: ({ path }: Collection) => {
        asked.push(path)
        const status = statuses[path] ?? 200
        return status === 200 ? Promise.resolve() : Promise.reject(failure(status))
      },
    },
  } as unknown as LiveSession
  return { session, asked }
}

const holding = (used: readonly Collection[], left: readonly Collection[] = []): Holdings => {
  return { members: [], used: new Set(used.map(({ path }) => path)), collections: [...used, ...left] }
}

test.each([
  ['one of those in use lists', [ipPolicies, tcpEdges], [], { ip_policies: 403 }, undefined],
  ['one that nothing uses is refused', [ipPolicies], [tcpEdges], { 'edges/tcp': 404 }, undefined],
  ['all in use are refused', [ipPolicies, tcpEdges], [], { ip_policies: 403, 'edges/tcp': 404 }, 403],
  ['all in use are refused, and another lists', [ipPolicies], [tcpEdges], { ip_policies: 501 }, 501],
  ['one fails otherwise', [ipPolicies, tcpEdges], [], { ip_policies: 403, 'edges/tcp': 500 }, 500],
  ['the only one asked is refused', [], [], { event_destinations: 404 }, 404],
  ['nothing is in use, and one lists', [], [ipPolicies, tcpEdges], { ip_policies: 403 }, undefined],
] as const)('a resync in which %s', async (_title, used, left, statuses, problem) => {
  const listed = listAll(sessionOf(statuses).session, holding(used, left))
  if (problem === undefined) await listed
  else await expect(listed).rejects.toMatchObject({ status: problem })
})

test('a probe asks one collection, and the others only where it is refused, closed ones last', async () => {
  const { session, asked } = sessionOf({})
  await probe(session, holding([ipPolicies, tcpEdges]))
  expect(asked).toEqual([ipPolicies.path])
  const second = sessionOf({ ip_policies: 403 })
  await probe(second.session, holding([ipPolicies, botUsers, tcpEdges]))
  expect(second.asked).toEqual([ipPolicies.path, botUsers.path])
  const third = sessionOf({}, [ipPolicies])
  await probe(third.session, holding([ipPolicies, tcpEdges]))
  expect(third.asked).toEqual([tcpEdges.path])
})

test('a probe that is refused everywhere fails with the first answer, having asked what is in use only', async () => {
  const { session, asked } = sessionOf({ ip_policies: 403, 'edges/tcp': 404 })
  await expect(probe(session, holding([ipPolicies, tcpEdges], [botUsers]))).rejects.toMatchObject({ status: 403 })
  expect(asked).toEqual([ipPolicies.path, tcpEdges.path])
  const empty = sessionOf({ event_destinations: 403 })
  await expect(probe(empty.session, holding([]))).rejects.toMatchObject({ status: 403 })
  expect(empty.asked).toEqual([eventDestinations.path])
})

test('a probe ends with the first answer that says nothing about a collection', async () => {
  const { session, asked } = sessionOf({ ip_policies: 401 })
  await expect(probe(session, holding([ipPolicies, tcpEdges]))).rejects.toMatchObject({ status: 401 })
  expect(asked).toEqual([ipPolicies.path])
})
