import { RequestError } from '../errors.ts'
import { textsOf } from '../json.ts'
import type { Services } from '../objects/write-context.ts'
import type { Agent } from './agent.ts'
import { missingRules } from './bindings.ts'

/**
 * Admits an agent to a session, as the service does when it connects: its credential must still exist and its owner be
 * active, the IP restrictions of type `agent` must admit its address, and the credential's ACL must permit what it
 * binds. Returns the ids of the restrictions that only warn.
 */
export function admitAgent(
  { credential_id, ip, bindings }: Pick<Agent, 'credential_id' | 'ip' | 'bindings'>,
  account: string,
  { store, resources, agentRestrictions }: Services,
): string[] {
  const id = credential_id
  const credential = store.get(account, resources.ofId(id).path, id)
  if (credential === undefined) throw new RequestError('notFound', `the credential ${id} was deleted`, { id })
  const owner = store.get(account, 'bot_users', String(credential.owner_id))
  if (owner?.active === false) {
    throw new RequestError('inactive', `the bot user that owns ${id} is not active`, { id: owner.id })
  }
  const { enforced, warnings } = agentRestrictions.judge(account, ip)
  if (enforced.length > 0) {
    const ids = enforced.join(',')
    throw new RequestError('sourceRefused', `the IP restriction ${ids} does not admit ${ip}`, { ids, address: ip })
  }
  const acl = textsOf(credential.acl)
  const missing = missingRules(acl, bindings)
  if (missing.length > 0) {
    const rules = missing.join(', ')
    throw new RequestError('bindForbidden', `the ACL of ${id} lacks ${rules}; it permits ${acl.join(', ')}`, {
      id,
      rules,
    })
  }
  return [...warnings]
}
