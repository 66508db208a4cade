# The image that action.yml runs: the static binary and the certificates it
# needs, nothing else. Toolchains of the code under test do not belong here; a
# host that needs them uses native/action.yml.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY cmd cmd
COPY internal internal
RUN CGO_ENABLED=0 go build -trimpath -ldflags="-s -w" -o /image/accelgate ./cmd/accelgate
# Programs under test expect a /tmp.
RUN mkdir -p /image/etc/ssl/certs && mkdir -m 1777 /image/tmp && cp /etc/ssl/certs/ca-certificates.crt /image/etc/ssl/certs/

FROM scratch
COPY --from=build /image /
# GitHub starts container actions without --gpus; a runner whose default
# runtime is NVIDIA's hands the devices over when these are set.
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
ENTRYPOINT ["/accelgate"]
