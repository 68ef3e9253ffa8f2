import { expect, test } from 'vitest'
import { ModelWorld } from '../../../builders/model-world.ts'

const MINUTE = 60_000
const STARTED = '2026-01-01T00:00:00Z'

test('a certificate of a deleted object does not count for the one created in its place, whatever the clocks say', async () => {
  const world = ModelWorld.start()
  const reasonOf = (type: string): string | undefined => {
    return world.get('AgentIngress', 'edge')?.status?.conditions?.find((each) => each.type === type)?.reason
  }
  const shows = (job: unknown): void => {
    const management = { renews_at: null, provisioning_job: job }
    // By the API's clock, the object is from long before any condition.
    const created_at = '2020-01-01T00:00:00Z'
    world.account.shownBeside.set('agent_ingresses', { certificate_management_status: management, created_at })
  }
  shows(null)
  world.apply('AgentIngress', 'edge', { domain: 'agents.example.com', certificate: { type: 'Managed', managed: {} } })
  await world.until('in use', () => reasonOf('CertificateReady') === 'CertificateIssued', MINUTE)
  const former = world.get('AgentIngress', 'edge')?.status?.id ?? ''
  shows({ started_at: STARTED })
  world.account.delete('agent_ingresses', former)
  const isOther = (): boolean => ![undefined, former].includes(world.get('AgentIngress', 'edge')?.status?.id)
  await world.until('created again', isOther, 10 * MINUTE)
  expect(reasonOf('CertificateReady')).toBe('CertificatePending')
  await world.clock.advance(5 * MINUTE)
  expect(reasonOf('CertificateReady')).toBe('CertificatePending')
  expect(reasonOf('Ready')).not.toBe('Available')
  world.kill()
})
