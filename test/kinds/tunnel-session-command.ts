import type { KindTestData } from './kind-test-data.ts'
import { refuse, refuseChange } from './shared/refusals.ts'

export const tunnelSessionCommand: KindTestData = {
  kind: 'TunnelSessionCommand',
  accepted: { action: 'Restart', target: { type: 'ID', id: 'ts_1' }, ttlAfterFinished: '1h' },
  refusals: [
    refuseChange('with another action', { action: 'Stop' }, 'action is immutable: a command runs only once'),
    refuseChange(
      'to another session',
      { target: { type: 'ID', id: 'ts_2' } },
      'target is immutable: a command runs only once, so create another command',
    ),
    refuseChange(
      'in an account that is named later',
      { accountRef: { name: 'other' } },
      'accountRef is immutable: a command runs only once, so create another command',
    ),
    refuse(
      'to one and to many',
      { target: { type: 'ID', id: 'ts_1', selector: {} } },
      'set the member for the type, and no other: sessionRef for Session, id for ID, selector for Selector',
    ),
    refuse(
      'to those with a label of a long name',
      { target: { type: 'Selector', selector: { matchLabels: { ['a'.repeat(318)]: 'x' } } } },
      'names in matchLabels must have at most 317 characters',
    ),
    refuse('to nobody', { target: { type: 'Selector' } }, 'set the member for the type'),
    refuse(
      'with an expression without values',
      { target: { type: 'Selector', selector: { matchExpressions: [{ key: 'a', operator: 'In' }] } } },
      'values is required with the operators In and NotIn',
    ),
    refuse(
      'to be deleted at once',
      { ttlAfterFinished: '0s' },
      'ttlAfterFinished must be from 1s to 8760h: write it as',
    ),
  ],
}
