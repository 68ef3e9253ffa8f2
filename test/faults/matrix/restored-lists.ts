import type { Sighting } from '../simulation/faults.ts'
import { restored } from '../simulation/restore/backups.ts'
import { subjects } from '../simulation/restore/life.ts'
import type { Trial } from '../simulation/restore/trial.ts'
import { managed } from '../simulation/spec-families.ts'
import { lostCursor, named, refusal } from './api-faults-kinds.ts'
import { blows, isLaterPage } from './api-faults-trouble.ts'

/** How often a list fails: as often as the client restarts one whose cursor is lost. */
const TIMES = 3

/** For an object, this says that it does not exist; for a list, nothing. */
const unknownList = named('before', '404', {
  type: 'answer',
  when: 'before',
  answer: refusal(404, 'ERR_3004', 'there is nothing at this path'),
})

/** Everything restored without status, while the lists fail in which the objects would be found. */
export const restoredAmidLists: readonly Trial[] = subjects.flatMap((subject) => {
  const { kind, title } = subject
  const collections = managed.find(({ definition }) => definition.kind === kind)?.identity.collections ?? []
  const paths = new Set(collections.map(({ path }) => `/${path}`))
  return [unknownList, lostCursor].map(({ name, fault }): Trial => {
    const hits = (sighting: Sighting): boolean =>
      sighting.method === 'GET' && paths.has(sighting.path) && isLaterPage(sighting) === (fault === lostCursor.fault)
    return {
      what: {
        write: `${kind} ${title}`,
        point: `lists, ${TIMES} times in a row`,
        fault: `restored without status, ${name}`,
      },
      run: (laboratory) =>
        restored(laboratory, subject, {
          how: 'as they were',
          withAccount: false,
          trouble: blows({ hits, times: TIMES, fault }),
          pageSize: 1,
        }),
    }
  })
})
