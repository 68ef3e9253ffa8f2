import type { FastifyInstance } from 'fastify'
import { readCreate } from '../fields/field.ts'
import { find, setFields, update } from '../objects/operations.ts'
import type { MemberList, Part, Resource } from '../objects/resource.ts'
import type { Services } from '../objects/write-context.ts'
import { NO_CONTENT, type Operations, ok } from '../openapi/operation.ts'
import { createSchema, envelopeSchema } from '../openapi/schemas.ts'
import type { StoredObject } from '../store/database.ts'
import { isJsonObject, type JsonObject, textOf } from '../values/json.ts'
import { RequestError } from '../values/request-error.ts'
import { bodyOf, contextOf, idOf, parameter, route, viewOf } from './route.ts'

/** Routes of a sub-resource of one object, such as `/edges/tcp/{id}/backend`. */
export function partRoutes(app: FastifyInstance, resource: Resource, part: Part, services: Services): void {
  const { name, read, shows = {}, replace, takes, clear } = part
  const operations: Operations = {
    DELETE: {
      summary: `Clear ${name} of one of ${resource.path}`,
      success: NO_CONTENT,
      handler: (request, reply) => {
        const context = contextOf(request, services)
        const object = find(resource, idOf(request), context)
        setFields(resource, object.id, clear(object, context), context)
        return reply.code(204).send()
      },
    },
  }
  if (read !== undefined) {
    operations.GET = {
      summary: `Get ${name} of one of ${resource.path}`,
      success: ok(shows),
      handler: (request) => {
        const object = find(resource, idOf(request), contextOf(request, services))
        const value = read(object, viewOf(request, services))
        if (value === null) throw new RequestError('notFound', `${name} of ${object.id} is not set`, { id: object.id })
        return value
      },
    }
  }
  if (read !== undefined && replace !== undefined && takes !== undefined) {
    operations.PUT = {
      summary: `Replace ${name} of one of ${resource.path}`,
      body: takes,
      success: ok(shows),
      handler: (request) => {
        const context = contextOf(request, services)
        find(resource, idOf(request), context)
        const object = update(resource, idOf(request), replace(bodyOf(request)), context)
        return read(object, viewOf(request, services))
      },
    }
  }
  route(app, `/${resource.path}/:id/${name}`, operations)
}

/** Routes of a list inside an object, such as `/event_subscriptions/{id}/sources`. */
export function memberRoutes(app: FastifyInstance, resource: Resource, members: MemberList, services: Services): void {
  const url = `/${resource.path}/:id/${members.name}`

  route(app, url, {
    GET: {
      summary: `List ${members.name} of one of ${resource.path}`,
      success: ok(envelopeSchema(members.name, members.shows)),
      handler: (request) => {
        const object = find(resource, idOf(request), contextOf(request, services))
        const view = viewOf(request, services)
        return {
          [members.name]: itemsOf(object, members).map((item) => members.render(item, object, view)),
          uri: `${view.uri(resource.path, object.id)}/${members.name}`,
          next_page_uri: null,
        }
      },
    },
    POST: {
      summary: `Add to ${members.name} of one of ${resource.path}`,
      body: createSchema(members.fields),
      success: { status: 201, body: members.shows },
      refusals: [409],
      handler: (request, reply) => {
        const context = contextOf(request, services)
        const object = find(resource, idOf(request), context)
        const item = readCreate(members.fields, bodyOf(request))
        const key = textOf(item, members.key)
        if (findItem(object, members, key) !== undefined) {
          throw new RequestError('taken', `${members.key}: ${JSON.stringify(key)} is already there`, {
            field: members.key,
            id: object.id,
          })
        }
        setFields(resource, object.id, { [members.field]: [...itemsOf(object, members), item] }, context)
        return reply.code(201).send(members.render(item, object, viewOf(request, services)))
      },
    },
  })

  route(app, `${url}/:key`, {
    GET: {
      summary: `Get one of ${members.name} of one of ${resource.path}`,
      success: ok(members.shows),
      handler: (request) => {
        const object = find(resource, idOf(request), contextOf(request, services))
        const item = requireItem(object, members, parameter(request, 'key'))
        return members.render(item, object, viewOf(request, services))
      },
    },
    DELETE: {
      summary: `Remove one of ${members.name} of one of ${resource.path}`,
      success: NO_CONTENT,
      handler: (request, reply) => {
        const context = contextOf(request, services)
        const object = find(resource, idOf(request), context)
        const item = requireItem(object, members, parameter(request, 'key'))
        const rest = itemsOf(object, members).filter((other) => other !== item)
        // itemsOf returns the same objects each time, so the item can be found by identity.
        setFields(resource, object.id, { [members.field]: rest }, context)
        return reply.code(204).send()
      },
    },
  })
}

function itemsOf(object: StoredObject, members: MemberList): JsonObject[] {
  const items = object[members.field]
  return Array.isArray(items) ? items.filter(isJsonObject) : []
}

function findItem(object: StoredObject, members: MemberList, key: string): JsonObject | undefined {
  return itemsOf(object, members).find((item) => item[members.key] === key)
}

function requireItem(object: StoredObject, members: MemberList, key: string): JsonObject {
  const item = findItem(object, members, key)
  if (item === undefined) {
    throw new RequestError('notFound', `${members.name} of ${object.id} has no ${JSON.stringify(key)}`, {
      id: object.id,
    })
  }
  return item
}
