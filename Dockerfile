# The server in a container: no root inside, nothing written outside of /tmp and the cache.
#
#     docker build --tag arcf .
#     docker run --rm --read-only --tmpfs /tmp --publish 127.0.0.1:8000:8000 arcf

FROM python:3.13-slim AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /src
COPY pyproject.toml README.md LICENSE constraints.txt ./
COPY src src
RUN python -m venv /opt/arcf \
    && /opt/arcf/bin/pip install --constraint constraints.txt '.[serve]'

FROM python:3.13-slim
RUN useradd --system --uid 10001 --create-home arcf
COPY --from=build /opt/arcf /opt/arcf
ENV PATH=/opt/arcf/bin:$PATH PYTHONDONTWRITEBYTECODE=1 XDG_CACHE_HOME=/tmp/cache
USER 10001
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import urllib.request as u; u.urlopen('http://127.0.0.1:8000/api/health', timeout=4)"]
ENTRYPOINT ["arcf"]
CMD ["serve", "--host", "0.0.0.0", "--access-log", "--metrics"]
