import type { FastifyInstance, FastifyRequest } from 'fastify'
import { readUpdate } from '../fields/field.ts'
import { shared } from '../fields/json-schema.ts'
import { create, find, remove, update } from '../objects/operations.ts'
import type { Command, Resource } from '../objects/resource.ts'
import { render } from '../objects/view.ts'
import type { Services } from '../objects/write-context.ts'
import { NO_CONTENT, type Operation, type Operations, ok } from '../openapi/operation.ts'
import { schemaNames, updateSchema } from '../openapi/schemas.ts'
import type { JsonObject } from '../values/json.ts'
import { listPage, listPastPage, PAGE_QUERY, readPageRequest } from './paging.ts'
import { memberRoutes, partRoutes } from './part-routes.ts'
import { bodyOf, contextOf, idOf, route, viewOf } from './route.ts'

/**
 * Registers the operations of a collection, its sub-resources and its commands (`management-api.md § Standard
 * operations`).
 */
export function collectionRoutes(app: FastifyInstance, resource: Resource, services: Services): void {
  const collection = `/${resource.path}`
  const item = `${collection}/:id`

  const names = schemaNames(resource)
  const object = shared(names.object)

  const list: Operation = {
    summary: `List ${resource.path}, newest first`,
    query: PAGE_QUERY,
    success: ok(shared(names.list)),
    handler: (request) => listed(resource, request, services),
  }
  const get: Operation = {
    summary: `Get one of ${resource.path}`,
    success: ok(object),
    handler: (request) =>
      render(resource, find(resource, idOf(request), contextOf(request, services)), viewOf(request, services)),
  }
  if (resource.readOnly === true) {
    route(app, collection, { GET: list })
    route(app, item, { GET: get })
  } else {
    route(app, collection, { GET: list, POST: creation(resource, services) })
    route(app, item, { GET: get, ...changes(resource, services) })
  }
  for (const part of resource.parts ?? []) partRoutes(app, resource, part, services)
  for (const members of resource.memberLists ?? []) memberRoutes(app, resource, members, services)
  for (const command of resource.commands ?? []) commandRoute(app, resource, command, services)
}

function creation(resource: Resource, services: Services): Operation {
  const names = schemaNames(resource)
  return {
    summary: `Create in ${resource.path}`,
    body: shared(names.create),
    success: { status: 201, body: shared(names.object) },
    refusals: [409],
    handler: async (request, reply) => {
      const created = await create(resource, bodyOf(request), contextOf(request, services))
      const shown = render(resource, created.object, viewOf(request, services))
      return reply.code(201).send({ ...shown, ...created.revealed })
    },
  }
}

function changes(resource: Resource, services: Services): Operations {
  const names = schemaNames(resource)
  return {
    PATCH: {
      summary: `Update one of ${resource.path}`,
      body: shared(names.update),
      success: ok(shared(names.object)),
      refusals: [409],
      handler: (request, reply) => {
        const context = contextOf(request, services)
        // The path is checked before the body: an unknown id is answered 404 whatever was sent.
        find(resource, idOf(request), context)
        const updated = update(resource, idOf(request), bodyOf(request), context)
        const answer = resource.updateAnswer === 'unstated' ? services.choices['update-answer'] : 'object'
        if (answer === 'nothing') return reply.code(204).send()
        return answer === 'object' ? render(resource, updated, viewOf(request, services)) : {}
      },
    },
    DELETE: {
      summary: `Delete one of ${resource.path}`,
      success: NO_CONTENT,
      refusals: [409],
      handler: (request, reply) => {
        remove(resource, idOf(request), contextOf(request, services))
        return reply.code(204).send()
      },
    },
  }
}

function listed(resource: Resource, request: FastifyRequest, services: Services): JsonObject {
  const { account } = contextOf(request, services)
  const view = viewOf(request, services)
  const page = readPageRequest(isQuery(request.query) ? request.query : {}, services.choices)
  const act = request.exchange?.fault?.act
  if (act?.type !== 'stale-list') return listPage(resource, account, page, services.store, view)
  const time = services.clock.now() - act.seconds * 1000
  return listPastPage(resource, account, { ...page, time }, services.store, view)
}

function isQuery(query: unknown): query is Record<string, unknown> {
  return typeof query === 'object' && query !== null
}

/** Route of a command, such as `/tunnel_sessions/{id}/restart`: an empty JSON object, answered 204. */
function commandRoute(app: FastifyInstance, resource: Resource, command: Command, services: Services): void {
  const { name, summary, run } = command
  route(app, `/${resource.path}/:id/${name}`, {
    POST: {
      summary,
      body: updateSchema({}),
      success: NO_CONTENT,
      refusals: [409],
      handler: (request, reply) => {
        const context = contextOf(request, services)
        const object = find(resource, idOf(request), context)
        // As in an update body, an id is the one field that is accepted and ignored.
        readUpdate({}, bodyOf(request))
        services.store.transaction(() => run(object, context))
        return reply.code(204).send()
      },
    },
  })
}
