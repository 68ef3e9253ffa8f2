import type { CollectionFact, OperatorSide, SubResourceFact } from '../facts/facts.ts'
import { managingKinds } from './kinds.ts'
import type { CoverageRow } from './row.ts'

const client = (title: string): string => `unit/api/client.test.ts > ${title}`

/** The addresses of a collection, and the facts about it as a whole. */
export function collectionRows(row: CollectionFact): readonly CoverageRow[] {
  const { path, source, due, operatorDue } = row
  const make = (part: string, statement: string, emulator: readonly string[], operator: OperatorSide): CoverageRow => {
    return { id: `${path}, ${part}`, statement, source, due, operatorDue, emulator, operator }
  }
  const at = (file: string, title: string): string => `contract/${file}.test.ts > ${title}`
  const creating = at(
    'create',
    `creating in ${path} > with every field answers each value, and a later GET shows the same`,
  )
  const minimal = `creating in ${path} > with the mandatory fields alone answers 201 with every field of the contract and its default`
  const sends = (way: string): readonly string[] => [
    `unit/kinds/facts.test.ts > ${path} > a spec can ${way}, and no other`,
  ]
  const list = at(
    'read-and-delete',
    `${path} > a list is its key, uri and next_page_uri, and shows an object as GET does`,
  )
  const deleted = at('read-and-delete', `${path} > a deleted object answers 404 to everything and is listed no more`)
  const updated = at(
    'update',
    `updating in ${path} > with every field answers each new value, and a later GET shows the same`,
  )
  const uri = at('read-and-delete', `${path} > the uri of an object answers the object`)
  const fires = `${path} > creating, updating and deleting fire created, updated and deleted events under the name of the collection`
  return [
    make('POST', 'answers 201 with the created resource', [creating], {
      tests: sends('set every field of the create body'),
    }),
    make('GET one', 'answers 200 with the resource', [creating, uri], {
      tests: [client('get and delete > refuse another object than the one asked for')],
    }),
    make('GET all', `answers 200 with the list under ${row.listKey}`, [list], {
      tests: ['unit/api/collections.test.ts > the collections are those of the contract, with their list keys'],
    }),
    make('PATCH', 'answers 200 with the updated resource', [updated], {
      tests: [...sends('change every field of the update body'), client('update > sends the id in the body')],
    }),
    make('DELETE', 'answers 204 without a body', [deleted], {
      tests: [client('get and delete > report a deletion answered 204')],
    }),
    make('id', `begins with ${row.idPrefix}`, [at('create', minimal)], {
      serverOnly: 'the operator takes ids as they come',
    }),
    make('uri', row.uri === 'absolute' ? 'is absolute' : 'may be a path', [at('create', minimal), uri], {
      serverOnly: 'the operator builds addresses from ids',
    }),
    make('events', `have types ${row.eventName}_…`, [at('events', fires)], {
      serverOnly: 'the operator reads no events',
    }),
    make(
      'document',
      'is described in the OpenAPI document',
      [at('openapi', `every answer in ${path} > is as documented`)],
      {
        serverOnly: 'the document is the emulator’s',
      },
    ),
    ...row.unique.map((field) => unique(row, field, make)),
    ...row.subResources.map((sub) => subResource(row, sub)),
  ]
}

type Make = (part: string, statement: string, emulator: readonly string[], operator: OperatorSide) => CoverageRow

function unique({ path }: CollectionFact, field: string, make: Make): CoverageRow {
  const title = `a value that must be unique is a conflict while another object holds it, and free after its deletion`
  return make(
    `unique ${field}`,
    'no two objects share it',
    [`contract/in-use.test.ts > ${path} > ${title}: ${field}`],
    {
      tests: [
        'unit/managed/run/reconcile-result.test.ts > every error has its result > ApiError Conflict: stalled,terminal,Conflict',
      ],
    },
  )
}

function subResource(row: CollectionFact, sub: SubResourceFact): CoverageRow {
  const { due, operatorDue } = row
  const clears = sub.methods.includes('DELETE') && !sub.path.includes('{')
  return {
    id: sub.id,
    statement: `${sub.methods.join(', ')}: shows or changes ${sub.field}`,
    source: sub.source,
    due,
    operatorDue,
    emulator: [
      `contract/openapi.test.ts > every answer in ${row.path} > is as documented`,
      ...(clears
        ? [
            `contract/events.test.ts > a change through an address below an object fires the update of the object: ${sub.id}`,
          ]
        : [
            'contract/event-subscriptions.test.ts > a source is listed, read by its type, removed with 204, and then not found',
          ]),
    ],
    operator: {
      serverOnly: `the operator changes ${sub.field} by PATCH of the whole ${managingKinds[row.path]?.kind ?? 'object'}`,
    },
  }
}
