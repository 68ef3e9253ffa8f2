import { expect, test } from 'vitest'
import type { Finding } from '../../../src/cli/doctor/finding.ts'
import { runDoctor } from '../../../src/cli/doctor-command.ts'
import { runWhy } from '../../../src/cli/why-command.ts'
import { ask } from '../support/ask.ts'
import { type Resource, World } from '../support/world.ts'

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

test('why and doctor look at the operator that has the account', { tags: 'nightly' }, async () => {
  await using world = await World.open({ leaderElect: true, operator: false, flags: ['--installation', 'divided'] })
  const { namespace, operatorNamespace } = world
  const green = await world.startOperator(operatorFlags('green'))
  const account = await world.get('Account', 'default')
  await world.apply('Account', 'default', account?.spec ?? {}, { labels: { operator: 'green' } })
  await world.reason('Account', 'default', 'Ready', 'Available')
  await green.stop()
  await world.apply('IPPolicy', 'office', { allowEmpty: true })

  const flags = { release: 'culvert', operatorNamespace }
  const why = await ask(world, (cluster) => runWhy(cluster, ['IPPolicy/office'], { output: 'text', ...flags }))
  expect(why.text).toContain(
    `Its operator does not run: Lease green in namespace ${operatorNamespace} was last renewed`,
  )
  expect(why.text).toContain(`kubectl get pods -n ${operatorNamespace}`)
  const doctor = await ask(world, (cluster) => {
    return runDoctor(cluster, { output: 'json', allNamespaces: false, dnsServer: [], ...flags })
  })
  const { findings } = JSON.parse(doctor.lines.join('\n')) as { readonly findings: readonly Finding[] }
  expect(findings[0]).toMatchObject({ severity: 'error', object: `operator ${operatorNamespace}/green` })
  expect(findings[0]?.cause).toContain(`nothing of Account/default in namespace ${namespace} is reconciled until`)
})
