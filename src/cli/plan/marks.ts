import type { WriteReason } from '../../telemetry/write-origin.ts'
import type { PlannedWrite } from './dry-account.ts'

/** Why somebody should look at an operation before it is carried out. */
export interface Mark {
  readonly type: 'deleted' | 'replaced' | 'unprotected' | 'opened' | 'lockout'
  readonly text: string
}

/** A create for one of these reasons has an object of another id as its result. */
const REPLACING: ReadonlySet<WriteReason> = new Set(['replacement', 'rotation', 'renewal', 'reissue'])

export function marksOf(write: PlannedWrite): readonly Mark[] {
  const { method, origin } = write
  if (method === 'delete') return [{ type: 'deleted', text: 'an object is deleted' }]
  if (method === 'create' && REPLACING.has(origin.reason)) {
    return [{ type: 'replaced', text: 'this object replaces another, which is deleted once nothing uses it' }]
  }
  return []
}
