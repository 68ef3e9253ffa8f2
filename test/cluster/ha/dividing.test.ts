import { expect, test } from 'vitest'
import type { Resource } from '../support/world.ts'
import { World } from '../support/world.ts'

const POLICIES = '/ip_policies'
/** Of the operator that the account's label names. */
const operatorFlags = (name: string): readonly string[] => ['--name', name, '--account-selector', `operator=${name}`]

test('an account moves between two operators by its label, and its resources with it', async () => {
  const flags = ['--installation', 'divided', '--retry-period', '300ms']
  await using world = await World.open({ leaderElect: true, operator: false, flags })
  const green = await world.startOperator(operatorFlags('green'))
  const blue = await world.startOperator(operatorFlags('blue'))
  const account = await world.get('Account', 'default')
  const moveTo = async (name: string): Promise<Resource> => {
    await world.apply('Account', 'default', account?.spec ?? {}, { labels: { operator: name } })
    const operator = `${world.operatorNamespace}/${name}`
    return await world.until('Account', 'default', `is of ${name}`, ({ status }) => {
      return (status?.internal as { claim?: { operator: string } } | undefined)?.claim?.operator === operator
    })
  }
  await world.apply('IPPolicy', 'office', { description: 'first', allowEmpty: true })

  await moveTo('green')
  const made = await world.ready('IPPolicy', 'office')
  await moveTo('blue')
  await world.apply('IPPolicy', 'office', { description: 'second', allowEmpty: true })
  const edited = await world.ready('IPPolicy', 'office')
  expect(edited.status?.id).toBe(made.status?.id)
  await moveTo('green')
  await world.delete('IPPolicy', 'office')
  await world.gone('IPPolicy', 'office')

  const writes = (method: string) =>
    world.journal().filter((entry) => entry.method === method && entry.path.startsWith(POLICIES))
  expect(['POST', 'PATCH', 'DELETE'].map((method) => writes(method).length)).toEqual([1, 1, 1])
  // Each says when it takes and gives up the account: twice the first, once the second.
  const said = ({ log }: typeof green, text: string) => log.split(`"this operator ${text} the account"`).length - 1
  expect([said(green, 'works on'), said(green, 'no longer works on')]).toEqual([2, 1])
  expect([said(blue, 'works on'), said(blue, 'no longer works on')]).toEqual([1, 1])
})
