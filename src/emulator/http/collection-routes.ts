import type { FastifyInstance, FastifyRequest } from 'fastify'
import { shared } from '../fields/json-schema.ts'
import type { JsonObject } from '../json.ts'
import { create, find, remove, update } from '../objects/operations.ts'
import { render } from '../objects/render.ts'
import type { Services } from '../objects/write-context.ts'
import { NO_CONTENT, ok } from '../openapi/operation.ts'
import { schemaNames } from '../openapi/schemas.ts'
import type { Resource } from '../resources/resource.ts'
import { bodyOf } from './body.ts'
import { listPage, listPastPage, PAGE_QUERY, readPageRequest } from './paging.ts'
import { memberRoutes, partRoutes } from './part-routes.ts'
import { contextOf, idOf, route, viewOf } from './route.ts'

/** Registers the standard operations of a collection and its sub-resources (`management-api.md § Standard operations`). */
export function collectionRoutes(app: FastifyInstance, resource: Resource, services: Services): void {
  const collection = `/${resource.path}`
  const item = `${collection}/:id`

  const names = schemaNames(resource)
  const object = shared(names.object)

  route(app, collection, {
    GET: {
      summary: `List ${resource.path}, newest first`,
      query: PAGE_QUERY,
      success: ok(shared(names.list)),
      handler: (request) => list(resource, request, services),
    },
    POST: {
      summary: `Create in ${resource.path}`,
      body: shared(names.create),
      success: { status: 201, body: object },
      refusals: [409],
      handler: async (request, reply) => {
        const created = await create(resource, bodyOf(request), contextOf(request, services))
        const shown = render(resource, created.object, viewOf(request, services))
        return reply.code(201).send({ ...shown, ...created.revealed })
      },
    },
  })
  route(app, item, {
    GET: {
      summary: `Get one of ${resource.path}`,
      success: ok(object),
      handler: (request) =>
        render(resource, find(resource, idOf(request), contextOf(request, services)), viewOf(request, services)),
    },
    PATCH: {
      summary: `Update one of ${resource.path}`,
      body: shared(names.update),
      success: ok(object),
      refusals: [409],
      handler: (request) => {
        const context = contextOf(request, services)
        // The path is judged before the body: an unknown id is 404 whatever was sent.
        find(resource, idOf(request), context)
        return render(resource, update(resource, idOf(request), bodyOf(request), context), viewOf(request, services))
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
  })
  for (const part of resource.parts ?? []) partRoutes(app, resource, part, services)
  for (const members of resource.memberLists ?? []) memberRoutes(app, resource, members, services)
}

function list(resource: Resource, request: FastifyRequest, services: Services): JsonObject {
  const { account } = contextOf(request, services)
  const view = viewOf(request, services)
  const page = readPageRequest(isQuery(request.query) ? request.query : {})
  const act = request.exchange?.fault?.act
  if (act?.type !== 'stale-list') return listPage(resource, account, page, services.store, view)
  const time = services.clock.now() - act.seconds * 1000
  return listPastPage(resource, account, { ...page, time }, services.store, view)
}

function isQuery(query: unknown): query is Record<string, unknown> {
  return typeof query === 'object' && query !== null
}
