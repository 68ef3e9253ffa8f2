import type { RemoteObject } from '../../api/types.ts'
import type { JudgeRisks, Risk } from '../../managed/descriptor/desired.ts'
import { listOf, refIds } from '../building-blocks/remote.ts'
import { type EdgeModule, edgeModules, enabledModule } from './edge-modules.ts'

/** What protects an edge. The backend and the end of TLS decide where traffic goes, not whose it is. */
const PROTECTING: ReadonlySet<string> = new Set(['ip_restriction', 'mutual_tls', 'policy'])

/** What an update takes away from the protection of a live edge. */
export const edgeRisks: JudgeRisks = ({ before, after }) => {
  if (before === undefined || after === undefined) return []
  return edgeModules.filter(({ name }) => PROTECTING.has(name)).flatMap((module) => moduleRisks(module, before, after))
}

function moduleRisks(module: EdgeModule, before: RemoteObject, after: RemoteObject): readonly Risk[] {
  const { name } = module
  const [was, is] = [enabledModule(before, module), enabledModule(after, module)]
  if (was === undefined) return []
  if (is === undefined) return [{ type: 'unprotected', text: `${name} leaves the live edge` }]
  const fewer = rulesOf(is) < rulesOf(was) ? [{ type: 'unprotected' as const, text: `${name} has fewer rules` }] : []
  const admitted = (each: typeof was): readonly string[] => [
    ...refIds(each.ip_policies),
    ...refIds(each.certificate_authorities),
  ]
  const known = new Set(admitted(was))
  const more = admitted(is).filter((id) => !known.has(id))
  return more.length === 0 ? fewer : [...fewer, { type: 'opened', text: `${name} lets in more: ${more.join(', ')}` }]
}

function rulesOf(module: Readonly<Record<string, unknown>>): number {
  return [module.inbound, module.outbound].flatMap(listOf).length
}
